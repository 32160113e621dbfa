import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  findCitationProblems,
  findCommandTexts,
  findDecisionRecordProblems,
  findForbiddenWords,
  findFragments,
  findIgnoredTests,
  findLongFunctions,
  findLongLines,
  findLongPages,
  findOwnPatterns,
  findSharedNames,
  findUnlinkedPages,
  type Violation,
} from './rules';

const problems = (violations: readonly Violation[]) => violations.map(({ line, problem }) => `${line}: ${problem}`);

describe('forbidden words', () => {
  it.each([
    ['const toldCount = 1;', ['1: told → reported, shown']],
    ['const MAX_TRIES = 1;', ['1: tries → attempts']],
    [
      'sideBySide(); AT_ONCE; // under\n// way',
      ['1: side by side → concurrently', '1: at once → immediately', '1: under way → in flight'],
    ],
    ['/** It starts at\n * once. */', ['1: at once → immediately']],
    ['# Late\nMoney', ['1: late money → late payment']],
    ['-- The HTTPAnswer\n-- is replied.', ['1: answer → response, result', '2: replied → response']],
    ['lifecycle, retries, foretold, bellow, at least once', []],
    ['PostgreSQL runs as `nobody`.', []],
    ['Nobody runs it.', ['1: nobody → a negation of the verb']],
  ])('finds in %j: %j', (text, expected) => {
    expect(problems(findForbiddenWords([{ file: 'src/a.ts', text }]))).toEqual(expected);
  });

  it('finds them in paths, and excludes the glossary', () => {
    expect(problems(findForbiddenWords([{ file: 'src/engine/a.ts', text: '' }]))).toEqual([
      '0: engine → Temporal (path)',
    ]);
    expect(findForbiddenWords([{ file: 'docs/glossary.md', text: 'Never "engine".' }])).toEqual([]);
  });
});

describe('fragments', () => {
  it.each([
    ['/** Of a bulk. */', ['1: Of → a sentence with a subject']],
    ['run(); // Of a bulk.', ['1: Of → a sentence with a subject']],
    ['/**\n * Of a bulk.\n */', ['1: Of → a sentence with a subject']],
    ['/** Errors: as of `approve`. */', ['1: as of → as for']],
    ['/** The limit of a bulk. Of these, two. */ const asOf = 1; // as of 2026-11-25', []],
  ])('finds in %j: %j', (text, expected) => {
    expect(problems(findFragments([{ file: 'src/a.ts', text }]))).toEqual(expected);
  });
});

it('finds a pattern of its own in an adapter', () => {
  const text = 'const id = z\n  .string()\n  .regex(/x/);';
  for (const file of ['src/providers/midtrans/schemas.ts', 'src/snap/response.ts']) {
    expect(problems(findOwnPatterns([{ file, text }]))).toEqual(['3: a pattern → a reader of src/lib/fields.ts']);
  }
  expect(findOwnPatterns([{ file: 'src/api/schemas.ts', text }])).toEqual([]);
});

describe('citations', () => {
  const contract = { file: 'docs/contract.md', text: '# The contract\n\n## Cancel and refund\n' };

  it.each([
    ['/** See interface-spec.md. */', ['1: interface-spec → docs/contract.md']],
    ['// (design §4)', ['1: design § → docs/contract.md']],
    ['/** As the contract requires. */', ['1: contract → a link to docs/contract.md']],
    ['\n/** docs/contract.md#cancel */', ['2: contract.md#cancel is no section']],
    ["/** docs/contract.md#cancel-and-refund */ const help = 'the contract'; // the design of a QR", []],
  ])('finds in %j: %j', (text, expected) => {
    expect(problems(findCitationProblems([contract, { file: 'src/a.ts', text }]))).toEqual(expected);
  });
});

describe('texts of the command line', () => {
  it.each([
    ['src/services/a.ts', "throw new ConflictError('x', 'Run lunas recover.');", ['1: lunas recover']],
    ['src/services/a.ts', '\nthrow new UserError(`add --nmid ID`);', ['2: --nmid', '2: new UserError']],
    ['workflows/a.ts', "waitFor('an operator (`lunas refunds`)');", ['1: lunas refunds']],
    ['activities/a.ts', '/** `lunas trigger`\n * `lunas up` */\nrun(); // lunas recover', []],
    ['src/db/a.ts', "connect('postgresql://lunas up')", ['1: lunas up']],
    ['src/db/a.ts', "{ application_name: 'lunas migrate' }", []],
    ['src/cli/a.ts', "'lunas recover'; new UserError('--note')", []],
    ['src/config.ts', "'until `lunas keys reseal` is done'", []],
  ])('finds in %s %j: %j', (file, text, expected) => {
    expect(problems(findCommandTexts([{ file, text }]))).toEqual(expected);
  });
});

describe('long lines', () => {
  const line = 'x'.repeat(121);

  it('counts columns, but not those of an address or a Markdown table', () => {
    const text = [line, 'é'.repeat(120), `${'x'.repeat(100)} https://lunas.example/${line}`, `| ${line} |`].join('\n');
    expect(problems(findLongLines([{ file: 'docs/a.md', text }]))).toEqual(['1: 121 columns']);
    expect(problems(findLongLines([{ file: 'src/a.ts', text }]))).toEqual(['1: 121 columns', '4: 125 columns']);
  });
});

it('a page has at most 200 lines, whichever part of the pages it is in', () => {
  const [whole, longer] = ['x\n'.repeat(200), 'x\n'.repeat(201)];
  const files = ['src/web/ui/a.tsx', 'src/web/dashboard/keys/a.tsx', 'src/web/dashboard/keys/a.ts', 'test/a.tsx'];
  const found = files.flatMap((file) => findLongPages([{ file, text: longer }]));
  expect(found.map(({ file }) => file)).toEqual(files.slice(0, 2));
  expect(files.flatMap((file) => findLongPages([{ file, text: whole }]))).toEqual([]);
});

it('finds a test whose file has another ending than those that Jest runs', () => {
  const files = ['test/a.test.ts', 'test/a.test.tsx', 'test/a.tsx', 'test/support/a.ts'];
  const found = files.flatMap((file) => findIgnoredTests([{ file, text: '' }]));
  expect(found.map(({ file }) => file)).toEqual(['test/a.test.tsx']);
});

describe('long functions', () => {
  it('finds a function and a test, and allows blocks of tests', () => {
    const body = '  run();\n'.repeat(80);
    const text = [
      `export function createPayment() {\n${body}}\n`,
      `describe('payments', () => {\n${body}});\n`,
      `describe.each([\n  1,\n])('payment %i', () => {\n${body}});\n`,
      `it.each([\n  1,\n])('creates %i', () => {\n${body}});\n`,
    ].join('');
    const root = mkdtempSync(path.join(os.tmpdir(), 'lunas-tidy-'));
    writeFileSync(path.join(root, 'a.ts'), text);
    const found = findLongFunctions([{ file: 'a.ts', text }], root);
    rmSync(root, { recursive: true });
    expect(problems(found)).toEqual([
      '1: The function `createPayment` has too many lines (82).',
      '251: The function has too many lines (82).',
    ]);
  });
});

describe('shared names', () => {
  it('finds types and constants of two files, and allows functions and a type with its value', () => {
    const sources = [
      {
        file: 'src/a.ts',
        text: 'export interface Row {}\nexport function findRow() {}\nexport const NAMES = [] as const;',
      },
      { file: 'src/b.ts', text: 'export type Row = 1;\nexport function findRow() {}\nexport type NAMES = 1;' },
      { file: 'packages/node/src/a.ts', text: 'export interface Row {}' },
      { file: 'src/c.ts', text: 'export const Key = 1;\nexport type Key = 1;\nconst Row = 1;' },
    ];
    expect(findSharedNames(sources).map(({ file, problem }) => `${file}: ${problem}`)).toEqual([
      'src/a.ts: Row is exported by src/b.ts, too',
      'src/a.ts: NAMES is exported by src/b.ts, too',
      'src/b.ts: Row is exported by src/a.ts, too',
      'src/b.ts: NAMES is exported by src/a.ts, too',
    ]);
  });
});

describe('documents', () => {
  it('finds a page without a link from an index', () => {
    const sources = [
      { file: 'docs/README.md', text: '[One](one.md#part), [Alerts](alerts/README.md)' },
      { file: 'docs/one.md', text: '[Four](alerts/four.md)' },
      { file: 'docs/three.md', text: '' },
      { file: 'docs/alerts/README.md', text: '[Two](two.md), [Index](../README.md)' },
      { file: 'docs/alerts/two.md', text: '' },
      { file: 'docs/alerts/four.md', text: '' },
    ];
    expect(findUnlinkedPages(sources).map(({ file }) => file)).toEqual(['docs/three.md', 'docs/alerts/four.md']);
  });

  it('finds a decision record without number, status or date', () => {
    const record = (text: string) => problems(findDecisionRecordProblems([{ file: 'docs/decisions/0007-a.md', text }]));
    expect(record('# 7. Title\n\nStatus: accepted, 2026-11-22\n')).toEqual([]);
    expect(record('# 8. Title\n\nStatus: accepted\n')).toHaveLength(2);
  });
});
