import { findRepeatedTexts } from './page-texts';

const problems = (...files: readonly (readonly [file: string, text: string])[]) =>
  findRepeatedTexts(files.map(([file, text]) => ({ file, text }))).map(
    ({ file, line, problem }) => `${file}:${line}: ${problem}`,
  );

describe('a text of the pages', () => {
  const EN = 'src/web/dashboard/texts/en.ts';
  const TEAM = 'src/web/dashboard/team/team-texts.ts';

  it.each([
    ['in two tables', [EN, "{ a: 'Check these fields:' }"], [TEAM, '{\n b: "Check these fields:" }'], `${TEAM}:2`],
    ['twice in a table', [EN, '{ a: `${n} rows are shown`,\n b: `${n} rows are shown` }'], [TEAM, ''], `${EN}:2`],
  ] as const)('a copy is refused: %s', (_name, one, other, location) => {
    expect(problems(one, other)).toEqual([expect.stringMatching(`${location}: ".*" is in ${EN}:1, too`)]);
  });

  it.each([
    ['a label of two words', [EN, "{ a: 'Not paid' }"], [TEAM, "{ a: 'Not paid' }"]],
    ['a part of a template', [EN, "`s ${n ? ' and  : ' : ''}`; ' : '"], [TEAM, "' : '"]],
    ['a reference', [EN, "{ a: 'Check these fields:' }"], [TEAM, '{ a: EN.a } // Check these fields:']],
    ['a comment', [EN, "{ a: 'Check these fields:' }"], [TEAM, "/** Such as 'Check these fields:', the user's. */"]],
    ['an exception', [EN, "{ a: 'Reset the login' }"], [TEAM, "{ a: 'Reset the login' }"]],
    ['another file', [EN, "{ a: 'Check these fields:' }"], ['src/web/docs/page.ts', "'Check these fields:'"]],
  ] as const)('%s is no copy', (_name, one, other) => {
    expect(problems(one, other)).toEqual([]);
  });
});
