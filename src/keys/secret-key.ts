import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Config } from '../config';

type KeyPrefixes = Readonly<Record<Config['LUNAS_ENVIRONMENT'], string>>;

/** Whose key it is can be read off it; nobody else's door opens to it. */
const MERCHANT: KeyPrefixes = { sandbox: 'sk_test_', production: 'sk_live_' };
const OPERATOR: KeyPrefixes = { sandbox: 'op_test_', production: 'op_live_' };

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 24;
/** Digits that hold 192 bits, and 32 bits. */
const RANDOM_DIGITS = 33;
const CHECKSUM_DIGITS = 6;
const SECRET_KEY = /^([a-z]{2}_(?:test|live)_)[0-9A-Za-z]{39}$/;

/** What may be stored and shown of a secret key: its hash, and by what a person recognises it. */
export interface StoredKey {
  readonly secretSha256: Buffer;
  readonly prefix: string;
  readonly lastFour: string;
}

export type NewSecretKey = StoredKey & { readonly secret: string };

/**
 * A merchant's key, `sk_test_…` or `sk_live_…`: 192 bits in base62 and the CRC-32 of all before it, so that a mistyped key
 * is refused without asking the database: any change of one character, any swap of neighbours, and all but one in four
 * billion others.
 * @param bits 24 bytes
 */
export function createSecretKey(
  environment: Config['LUNAS_ENVIRONMENT'],
  bits: Uint8Array = randomBytes(RANDOM_BYTES),
): NewSecretKey {
  return createKey(MERCHANT[environment], bits);
}

/** An operator's key, `op_test_…` or `op_live_…`, likewise. */
export function createOperatorKey(environment: Config['LUNAS_ENVIRONMENT']): NewSecretKey {
  return createKey(OPERATOR[environment], randomBytes(RANDOM_BYTES));
}

/** Undefined where it is no merchant's, or the form or the checksum is wrong; whether it exists only the database knows. */
export function parseSecretKey(text: string): StoredKey | undefined {
  return parseKey(MERCHANT, text);
}

/** The same of an operator's key. */
export function parseOperatorKey(text: string): StoredKey | undefined {
  return parseKey(OPERATOR, text);
}

/** How logs and lists show a key. */
export function maskSecretKey(key: Pick<StoredKey, 'prefix' | 'lastFour'>): string {
  return `${key.prefix}…${key.lastFour}`;
}

function createKey(prefix: string, bits: Uint8Array): NewSecretKey {
  const text = prefix + base62(BigInt(`0x${Buffer.from(bits).toString('hex')}`), RANDOM_DIGITS);
  const secret = text + checksumOf(text);
  return { secret, ...toStoredKey(secret, prefix) };
}

function parseKey(prefixes: KeyPrefixes, text: string): StoredKey | undefined {
  const prefix = SECRET_KEY.exec(text)?.[1];
  if (prefix === undefined || !Object.values(prefixes).includes(prefix)) return undefined;
  const isChecksumValid = checksumOf(text.slice(0, -CHECKSUM_DIGITS)) === text.slice(-CHECKSUM_DIGITS);
  return isChecksumValid ? toStoredKey(text, prefix) : undefined;
}

function toStoredKey(secret: string, prefix: string): StoredKey {
  return { secretSha256: createHash('sha256').update(secret).digest(), prefix, lastFour: secret.slice(-4) };
}

function checksumOf(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_DIGITS);
}

function base62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text;
  return text;
}
