import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { LANGUAGES } from '../../../src/domain/sign-in';
import {
  DATABASE_APPROVALS,
  MERCHANT_OPERATIONS,
  OPERATIONS,
  WORKFLOW_APPROVALS,
} from '../../../src/services/operations/all';
import { ACTIVITY_TEXTS } from '../../../src/web/dashboard/activity/activity-texts';
import { readSources } from '../../tidy/rules';

const MAX_LINES = 60;

describe('the list of operations', () => {
  it('each name is that of one operation, and has a subject and a verb', () => {
    const names = OPERATIONS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z_]+\.[a-z_]+$/);
  });

  it('the list has each operation that a file declares', () => {
    const declared = readSources()
      .filter(({ file }) => file.startsWith('src/'))
      .flatMap(({ text }) =>
        [...text.matchAll(/new Operation\(\{\s*name: '([a-z_.]+)'/g)].map(([, name = '']) => name),
      );
    expect(OPERATIONS.map(({ name }) => name).toSorted()).toEqual(declared.toSorted());
  });

  it.each(MERCHANT_OPERATIONS.map(({ name }) => name))(
    'the activity of a merchant has a text for %s in each language',
    (name) => {
      for (const language of LANGUAGES) expect(ACTIVITY_TEXTS[language].actions[name]).not.toBe('');
    },
  );

  it('the operations of members are those of merchants, and an approval finds each that needs one', () => {
    const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name).toSorted();
    expect(names(OPERATIONS.filter(({ member }) => member !== undefined))).toEqual(names(MERCHANT_OPERATIONS));
    expect(names(OPERATIONS.filter(({ executes }) => executes === 'database'))).toEqual(names(DATABASE_APPROVALS));
    expect(names(OPERATIONS.filter(({ executes }) => executes === 'workflow'))).toEqual(names(WORKFLOW_APPROVALS));
  });

  it('an approval that is repeated after its outcome was lost finds what a workflow has done', () => {
    const unsafe = OPERATIONS.filter(({ executes, findsRepeats }) => executes === 'workflow' && !findsRepeats);
    expect(unsafe.map(({ name }) => name)).toEqual([]);
  });

  it.each(OPERATIONS.filter(({ isForOperators }) => isForOperators).map(({ name }) => name))(
    'docs/operators.md has %s',
    (name) => {
      const [subject = '', verb = ''] = name.split('.');
      const lines = readFileSync('docs/operators.md', 'utf8').split('\n');
      const line = lines.findLast((text) => text.startsWith(`- \`${subject}\`: `));
      expect(line).toContain(`\`${verb}\``);
    },
  );

  it('a field that is secret is marked where the log looks: outside of what makes it optional', () => {
    const hidden = OPERATIONS.flatMap(({ name, input }) =>
      Object.entries<z.ZodType>(input.shape)
        .filter(([, field]) => JSON.stringify(z.toJSONSchema(field, { unrepresentable: 'any' })).includes('isSecret'))
        .filter(([, field]) => field.meta()?.isSecret !== true)
        .map(([field]) => `${name}: ${field}`),
    );
    expect(hidden).toEqual([]);
  });

  it('a declaration of an operation has at most 60 lines', () => {
    const long = readSources()
      .filter(({ file, text }) => file.startsWith('src/') && text.includes('= new Operation({'))
      .flatMap(({ file, text }) =>
        [...text.matchAll(/^export const (\w+) = new Operation\(\{[^]*?^\}\);$/gm)]
          .filter(([declaration]) => declaration.split('\n').length > MAX_LINES)
          .map(([, name]) => `${file}: ${name}`),
      );
    expect(long).toEqual([]);
  });
});
