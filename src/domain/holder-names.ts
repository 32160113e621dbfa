/** `similar`: each word of one name is in the other. */
export const NAME_MATCHES = ['same', 'similar', 'different'] as const;
export type NameMatch = (typeof NAME_MATCHES)[number];

/** Legal forms, which banks write or leave out. */
const LEGAL_FORMS: ReadonlySet<string> = new Set(['PT', 'CV', 'UD', 'TBK']);

/** Compares a merchant's name with the holder's name at the bank. It decides nothing: an operator approves. */
export function matchNames(merchantName: string, holderName: string): NameMatch {
  const [ours, theirs] = [wordsOf(merchantName), wordsOf(holderName)];
  const common = [...ours].filter((word) => theirs.has(word)).length;
  if (common === 0) return 'different';
  if (common === ours.size && common === theirs.size) return 'same';
  return common === Math.min(ours.size, theirs.size) ? 'similar' : 'different';
}

function wordsOf(name: string): ReadonlySet<string> {
  const words = name.toUpperCase().split(/[^\p{L}\p{N}]+/u);
  return new Set(words.filter((word) => word !== '' && !LEGAL_FORMS.has(word)));
}
