import { createHash, randomBytes } from 'node:crypto';

const CLOCK_DIGITS = 13;
const RANDOM_DIGITS = 19;
/** 112 bits: at most 34 decimal digits, of the 36 that SNAP allows. */
const HASH_BYTES = 14;
const HASH_DIGITS = 34;

/** An operation with a key has one id: the bank rejects a repeat on the same day. */
export function digitsOf(operation: string, key: string): string {
  const hash = createHash('sha256').update(`${operation}:${key}`).digest('hex');
  return decimal(hash.slice(0, 2 * HASH_BYTES), HASH_DIGITS);
}

/** An id of its own, for a call that may be repeated at any time. */
export function newDigits(): string {
  const random = decimal(randomBytes(8).toString('hex'), RANDOM_DIGITS + 1).slice(-RANDOM_DIGITS);
  return String(Date.now()).padStart(CLOCK_DIGITS, '0') + random;
}

function decimal(hex: string, digits: number): string {
  return BigInt(`0x${hex}`).toString().padStart(digits, '0');
}
