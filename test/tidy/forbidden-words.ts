/**
 * Words that names, comments and prose do not use, each with its inflections, and what replaces them
 * (docs/glossary.md has the terms). A word matches a whole word or a whole part of a camelCase or snake_case name:
 * `lifecycle` is not `life`.
 */
const WORD_FAMILIES: Readonly<Record<string, readonly string[]>> = {
  'notification, or what is new': ['news'],
  'reported, shown': ['told', 'tell', 'tells', 'telling', 'said', 'says'],
  'lifecycle, duration': ['life', 'lives'],
  attempts: ['tries'],
  'late payment': ['late money'],
  directory: ['folder', 'folders'],
  'state, diagram': ['picture', 'pictures', 'pictured'],
  Temporal: ['engine', 'engines'],
  'repair, correct': ['mend', 'mends', 'mended', 'mending'],
  hide: ['bury', 'buries', 'buried', 'burying', 'burial', 'burials'],
  'result, decision': ['verdict', 'verdicts', 'judge', 'judges', 'judged', 'judging', 'judgement'],
  notification: ['bell', 'bells'],
  concurrently: ['side by side'],
  immediately: ['at once'],
  'in flight': ['under way', 'underway'],
  'a negation of the verb': ['nobody'],
  'the component': ['whoever', 'somebody'],
  indeterminate: ['unclear'],
  'response, result': ['answer', 'answers', 'answered', 'answering'],
  response: ['reply', 'replies', 'replied', 'replying'],
  expectation: ['dream', 'dreams'],
  'slot, position, location': ['place', 'places'],
  'deferred; held is only the status of a refund': ['held back'],
  'on hold; held is only the status of a refund': ['merchant held'],
  'verify terms, verified step': ['check step', 'checked step'],
  'schedule a status query': ['request status query', 'requests a status query', 'requested a status query'],
};

/** By word or phrase: what replaces it. */
export const FORBIDDEN_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries(WORD_FAMILIES).flatMap(([replacement, words]) => words.map((word) => [word, replacement] as const)),
);

export interface Quotation {
  readonly text: string;
  readonly reason: string;
}

/** Texts of others that contain a forbidden word. They are removed before the check, in every file. */
export const QUOTATIONS: readonly Quotation[] = [
  { text: '`nobody`', reason: 'an account of the operating system' },
  { text: "'nobody'", reason: 'an account of the operating system' },
  { text: '"nobody"', reason: 'an account of the operating system' },
  { text: 'place-items:', reason: 'a property of CSS' },
  { text: 'Place order', reason: 'the button of WooCommerce' },
  { text: "'--folder'", reason: 'an option of newman' },
  { text: 'folderStrategy', reason: 'an option of openapi-to-postmanv2' },
  { text: '{ timeout: 2_000, tries: 2 }', reason: 'an option of the DNS resolver of Node.js' },
];
