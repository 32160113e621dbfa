import { hash } from 'node:crypto';
import { CELL_DIGITS } from '../domain/cell';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const REFERENCE_CHARACTERS = 16;

/** What a reference id is of: a payment, a payout, or a payment link. */
type ReferencePrefix = 'LN' | 'LP' | 'LK';

/** A reference id as `referenceIdOf` writes it, or as it was before cells: without the two digits of one. */
export const referencePattern = (prefix: ReferencePrefix) =>
  new RegExp(`^${prefix}(?:${CELL_DIGITS})?[${CROCKFORD}]{${REFERENCE_CHARACTERS}}$`);

/**
 * The reference id of a payment (`LN`), a payout (`LP`) or a payment link (`LK`): the cell that has it, and 80 bits of
 * the SHA-256 of its id in base 32 (Crockford).
 */
export function referenceIdOf(prefix: ReferencePrefix, cell: string, id: string): string {
  const digest = hash('sha256', id);
  const digits = BigInt(`0x${digest.slice(0, 20)}`)
    .toString(32)
    .padStart(REFERENCE_CHARACTERS, '0');
  return `${prefix}${cell}${digits.replaceAll(/./g, (digit) => CROCKFORD.charAt(Number.parseInt(digit, 32)))}`;
}
