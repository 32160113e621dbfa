import { hash } from 'node:crypto';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const REFERENCE_CHARACTERS = 16;

/** The reference id of a payment (`LN`) or a payout (`LP`): 80 bits of the SHA-256 of its id in base 32 (Crockford). */
export function referenceIdOf(prefix: 'LN' | 'LP', id: string): string {
  const digest = hash('sha256', id);
  const digits = BigInt(`0x${digest.slice(0, 20)}`)
    .toString(32)
    .padStart(REFERENCE_CHARACTERS, '0');
  return `${prefix}${digits.replaceAll(/./g, (digit) => CROCKFORD.charAt(Number.parseInt(digit, 32)))}`;
}
