import { FIRST_WORDS_OF_COMMENTS, FIRST_WORDS_OF_TITLES } from './first-words';
import { lineAt, type SourceFile, type Violation } from './rules';

/** The tests of these rules have examples of what they refuse. */
const TEST = /^(?:test\/(?!tidy\/)|packages\/|bench\/).*\.tsx?$/;
const CODE = /^(?:src|workflows|activities)\/.*\.tsx?$/;

/** `it('…')`, or `it.each(…)('…')` with the first string after the table. */
const TITLE = new RegExp(
  [
    /^[ \t]*(?:it|test)(?:\.(?:only|skip|failing|concurrent))*/,
    /(?:\(|\.each\b.*?\)\()\s*/,
    /(?<quote>['"`])(?<title>.*?)\k<quote>/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gms',
);
const DOC_COMMENT = /\/\*\*[\s*]+(?<comment>.*?)\*\//gs;

/** @returns what the first words of a text lack, after the words themselves; undefined if they lack nothing */
function lackOf(text: string, families: Readonly<Record<string, readonly string[]>>): string | undefined {
  const start = `${text.toLowerCase().replaceAll(/\s+/g, ' ')} `;
  for (const [lack, words] of Object.entries(families)) {
    const first = words.find((word) => start.startsWith(word) && /[^\w-]/.test(start.charAt(word.length)));
    if (first !== undefined) return `"${first}" is ${lack}`;
  }
  return undefined;
}

/** A title is a sentence that can be read without its `describe`. */
export function findDependentTitles(sources: readonly SourceFile[]): Violation[] {
  return sources
    .filter(({ file }) => TEST.test(file))
    .flatMap(({ file, text }) =>
      [...text.matchAll(TITLE)].flatMap(({ 0: call, groups, index }) => {
        const { title = '' } = groups ?? {};
        const lack = lackOf(title, FIRST_WORDS_OF_TITLES);
        const line = lineAt(text, index + call.length - 1 - title.length);
        return lack === undefined ? [] : [{ file, line, problem: `${lack}: begin "${title}" with its subject` }];
      }),
    );
}

/** A doc comment can be read without the comment before it. */
export function findDependentComments(sources: readonly SourceFile[]): Violation[] {
  return sources
    .filter(({ file }) => CODE.test(file))
    .flatMap(({ file, text }) =>
      [...text.matchAll(DOC_COMMENT)].flatMap(({ groups, index }) => {
        const lack = lackOf(groups?.['comment'] ?? '', FIRST_WORDS_OF_COMMENTS);
        return lack === undefined ? [] : [{ file, line: lineAt(text, index), problem: `${lack}: name the thing` }];
      }),
    );
}
