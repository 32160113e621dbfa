import { OPERATOR_ACTION_NAMES } from '../../src/services/audit/operator-action-names';
import { OPERATIONS } from '../../src/services/operations/all';
import { readSection, writeSection } from '../support/marked-section';
import { readSources } from '../tidy/rules';

const sources = readSources().filter(({ file }) => /^(?:src|workflows|activities)\//.test(file));

function namesDeclaredIn(text: string): string[] {
  return [...text.matchAll(/^export const [A-Z_]+ = new DeclaredAction\('(\w+\.\w+)'\);$/gm)].map(
    ([, name = '']) => name,
  );
}

/** By the part before the dot, one line each. */
function renderNames(): string {
  const subjects = new Set(OPERATOR_ACTION_NAMES.map((name) => name.split('.')[0]));
  const lines = [...subjects].map((subject) => {
    const names = OPERATOR_ACTION_NAMES.filter((name) => name.startsWith(`${subject}.`));
    const actions = names.map((name) => `\`${name.split('.')[1]}\``);
    return `- \`${subject}\`: ${actions.join(', ')}`;
  });
  return lines.join('\n');
}

describe('the names of operator actions', () => {
  it('the names of operator actions are those that the code declares, each once', () => {
    const declared = sources.flatMap(({ text }) => namesDeclaredIn(text));
    const operations = OPERATIONS.filter(({ isForOperators }) => isForOperators).map(({ name }) => name);
    expect(OPERATOR_ACTION_NAMES).toEqual([...declared, ...operations].toSorted());
    expect(new Set(OPERATOR_ACTION_NAMES).size).toBe(OPERATOR_ACTION_NAMES.length);
  });

  it('an operator action is declared nowhere else than beside a function of its module', () => {
    const others = sources.filter(({ text }) => {
      const all = text.match(/new DeclaredAction\(/g) ?? [];
      return all.length !== namesDeclaredIn(text).length;
    });
    expect(others.map(({ file }) => file)).toEqual([]);
  });

  it('the names of operator actions are in docs/operators.md (UPDATE_ACTIONS=1 writes them)', () => {
    const section = { page: 'docs/operators.md', kind: 'generated', name: 'operator-actions' };
    if (process.env.UPDATE_ACTIONS === '1') writeSection(section, renderNames());
    expect(readSection(section)).toBe(renderNames());
  });
});
