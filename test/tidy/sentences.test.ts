import { findDependentComments, findDependentTitles } from './sentences';

const found = (file: string, text: string, find: typeof findDependentTitles) =>
  find([{ file, text }]).map(({ line, problem }) => `${line}: ${problem}`);

describe('the title of a test', () => {
  it.each([
    [`it('is rejected', run);`, ['1: "is" is a verb without its subject: begin "is rejected" with its subject']],
    [
      `\n  it(\n    'that expires', run);`,
      ['3: "that" is a part of a sentence: begin "that expires" with its subject'],
    ],
    ['it.each([\n  1,\n])(`and %s`, run);', ['3: "and" is a continuation: begin "and %s" with its subject']],
    [`it("its shop's", run);`, [`1: "its" is a pronoun without its noun: begin "its shop's" with its subject`]],
    [`it('a payment that expires is closed', run); describe('is closed', run);`, []],
    [`it('\`has_second_user\` is false', run);\nit('has_second_user is false', run);\nit('issues a QR', run);`, []],
    [`it('200: the payment', run);\nit.each(TABLE)('%s has a limit', run);\nexpect(await it).toBe('is');`, []],
  ])('%j has the problems %j', (text, expected) => {
    expect(found('test/a.test.ts', text, findDependentTitles)).toEqual(expected);
  });

  it('the titles of a package are read too, and sources have none', () => {
    const text = "it('of a call', run);";
    expect(found('packages/node/test/a.test.ts', text, findDependentTitles)).toHaveLength(1);
    expect(found('src/a.ts', text, findDependentTitles)).toEqual([]);
  });
});

describe('a doc comment', () => {
  it.each([
    ['/** Its money. */', ['1: "its" is a pronoun without its noun: name the thing']],
    ['\n/**\n * The same\n * of a payout. */', ['2: "the same" is a reference to another comment: name the thing']],
    ['/** As `start`, and waits. */', ['1: "as" is a reference to another comment: name the thing']],
    ['run();\n  /** Also ids. */', ['2: "also" is a continuation: name the thing']],
    ['/** The money of a payout. It is not released. */\n/** Assets. */\n/** Those-like. */', []],
    ['// It follows the line below.\n/** `its` is a word. */\n/** @throws if it fails */', []],
  ])('%j has the problems %j', (text, expected) => {
    expect(found('src/a.ts', text, findDependentComments)).toEqual(expected);
  });

  it('a comment of a test may refer to the line above', () => {
    expect(found('test/a.test.ts', '/** Its row. */', findDependentComments)).toEqual([]);
  });
});
