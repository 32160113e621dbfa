/**
 * Words that names, comments and prose do not use, each with its inflections (docs/glossary.md has the terms to use
 * instead). A word matches a whole word or a whole part of a camelCase or snake_case name: `lifecycle` is not `life`.
 */
const WORD_FAMILIES: readonly (readonly string[])[] = [
  ['news'],
  ['told'],
  ['tell', 'tells', 'telling'],
  ['life', 'lives'],
  ['tries'],
  ['late money'],
  ['folder', 'folders'],
  ['picture', 'pictures', 'pictured'],
  ['engine', 'engines'],
  ['mend', 'mends', 'mended', 'mending'],
  ['bury', 'buries', 'buried', 'burying', 'burial', 'burials'],
  ['verdict', 'verdicts'],
  ['judge', 'judges', 'judged', 'judging', 'judgement'],
  ['bell', 'bells'],
  ['side by side'],
  ['at once'],
  ['under way', 'underway'],
  ['nobody'],
  ['whoever'],
  ['somebody'],
  ['unclear'],
  ['said', 'says'],
  ['answer', 'answers', 'answered', 'answering'],
  ['reply', 'replies', 'replied', 'replying'],
  ['dream', 'dreams'],
];
export const FORBIDDEN_WORDS: readonly string[] = WORD_FAMILIES.flat();

export interface Quotation {
  readonly text: string;
  readonly reason: string;
}

/** Texts of others that contain a forbidden word. They are removed before the check, in every file. */
export const QUOTATIONS: readonly Quotation[] = [
  { text: '`nobody`', reason: 'an account of the operating system' },
  { text: "'nobody'", reason: 'an account of the operating system' },
  { text: '"nobody"', reason: 'an account of the operating system' },
  { text: "'--folder'", reason: 'an option of newman' },
  { text: 'folderStrategy', reason: 'an option of openapi-to-postmanv2' },
  { text: '{ timeout: 2_000, tries: 2 }', reason: 'an option of the DNS resolver of Node.js' },
];
