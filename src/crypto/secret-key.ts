import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../config';
import { CELL_DIGITS } from '../domain/cell';

type KeyPrefixes = Readonly<Record<Environment, string>>;

/** The prefix identifies kind and environment of a key: each API rejects the other kind and the other environment. */
const MERCHANT: KeyPrefixes = { sandbox: 'sk_test_', production: 'sk_live_' };
const OPERATOR: KeyPrefixes = { sandbox: 'op_test_', production: 'op_live_' };

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 24;
/** Digits that hold 192 bits, and 32 bits. */
const RANDOM_DIGITS = 33;
const CHECKSUM_DIGITS = 6;
/** Keys from before cells have no cell. */
const SECRET_KEY = new RegExp(`^([a-z]{2}_(?:test|live)_)(?:${CELL_DIGITS})?[0-9A-Za-z]{39}$`);

/** The parts of a secret key that may be stored and shown. */
export interface StoredKey {
  readonly secretSha256: Buffer;
  readonly prefix: string;
  readonly lastFour: string;
}

export type NewSecretKey = StoredKey & { readonly secret: string };

/**
 * A merchant's key, `sk_test_…` or `sk_live_…`: its cell, 192 bits in base62 and a CRC-32. So a mistyped key is
 * rejected without a query: every change of one character, every swap of neighbours, and all but one in four billion
 * other changes.
 * @param bits 24 bytes
 */
export function createSecretKey(
  environment: Environment,
  cell: string,
  bits: Uint8Array = randomBytes(RANDOM_BYTES),
): NewSecretKey {
  return createKey(MERCHANT[environment], cell, bits);
}

/** An operator's key, `op_test_…` or `op_live_…`, in the same format. */
export function createOperatorKey(environment: Environment, cell: string): NewSecretKey {
  return createKey(OPERATOR[environment], cell, randomBytes(RANDOM_BYTES));
}

/**
 * Undefined if it is no merchant's key of the environment, or its format or checksum is wrong. It need not exist in the
 * database.
 */
export function parseSecretKey(text: string, environment: Environment): StoredKey | undefined {
  return parseKey(MERCHANT[environment], text);
}

/** Parses an operator's key. */
export function parseOperatorKey(text: string, environment: Environment): StoredKey | undefined {
  return parseKey(OPERATOR[environment], text);
}

/** The form of a key in logs and lists. */
export function maskSecretKey(key: Pick<StoredKey, 'prefix' | 'lastFour'>): string {
  return `${key.prefix}…${key.lastFour}`;
}

function createKey(prefix: string, cell: string, bits: Uint8Array): NewSecretKey {
  const text = prefix + cell + base62(BigInt(`0x${Buffer.from(bits).toString('hex')}`), RANDOM_DIGITS);
  const secret = text + checksumOf(text);
  return { secret, ...toStoredKey(secret, prefix) };
}

function parseKey(prefix: string, text: string): StoredKey | undefined {
  if (SECRET_KEY.exec(text)?.[1] !== prefix) return undefined;
  const isChecksumValid = checksumOf(text.slice(0, -CHECKSUM_DIGITS)) === text.slice(-CHECKSUM_DIGITS);
  return isChecksumValid ? toStoredKey(text, prefix) : undefined;
}

function toStoredKey(secret: string, prefix: string): StoredKey {
  return { secretSha256: hash('sha256', secret, 'buffer'), prefix, lastFour: secret.slice(-4) };
}

function checksumOf(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_DIGITS);
}

function base62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text;
  return text;
}
