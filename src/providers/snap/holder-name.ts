import type { PayoutProfile } from './payout-profiles';

/**
 * A holder's name in the characters that the bank accepts in a transfer: `H. MUH. ARI'F, S.KOM` is `H MUH ARI F S KOM`.
 * Empty if it accepts none of them. What is stored and shown is the name as the bank reported it.
 */
export function nameFor({ names }: Pick<PayoutProfile, 'names'>, name: string): string {
  const { allowed, maxLength } = names;
  const characters = Array.from(name.normalize('NFKD').replaceAll(/\p{M}/gu, ''));
  const accepted = characters.map((character) => (allowed.test(character) ? character : ' ')).join('');
  return accepted.replaceAll(/ +/g, ' ').trim().slice(0, maxLength).trim();
}
