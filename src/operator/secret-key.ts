import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Config } from '../config';

const PREFIXES = { sandbox: 'sk_test_', production: 'sk_live_' } as const satisfies Record<
  Config['LUNAS_ENVIRONMENT'],
  string
>;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 24;
/** Digits that hold 192 bits, and 32 bits. */
const RANDOM_DIGITS = 33;
const CHECKSUM_DIGITS = 6;
const SECRET_KEY = /^(sk_(?:test|live)_)[0-9A-Za-z]{39}$/;

/** What may be stored and shown of a secret key: its hash, and by what a person recognises it. */
export interface SecretKeyTraits {
  readonly secretSha256: Buffer;
  readonly prefix: string;
  readonly lastFour: string;
}

/**
 * `sk_test_…` or `sk_live_…`: 192 bits in base62 and the CRC-32 of all before it, so that a mistyped key is refused
 * without asking the database: any change of one character, any swap of neighbours, and all but one in four billion others.
 * @param bits 24 bytes
 */
export function createSecretKey(
  environment: Config['LUNAS_ENVIRONMENT'],
  bits: Uint8Array = randomBytes(RANDOM_BYTES),
): SecretKeyTraits & { readonly secret: string } {
  const prefix = PREFIXES[environment];
  const text = prefix + base62(BigInt(`0x${Buffer.from(bits).toString('hex')}`), RANDOM_DIGITS);
  const secret = text + checksumOf(text);
  return { secret, ...traitsOf(secret, prefix) };
}

/** Undefined where the form or the checksum is wrong; whether such a key exists only the database knows. */
export function parseSecretKey(text: string): SecretKeyTraits | undefined {
  const prefix = SECRET_KEY.exec(text)?.[1];
  if (prefix === undefined) return undefined;
  const isWhole = checksumOf(text.slice(0, -CHECKSUM_DIGITS)) === text.slice(-CHECKSUM_DIGITS);
  return isWhole ? traitsOf(text, prefix) : undefined;
}

/** How logs and lists show a key. */
export function maskSecretKey(key: Pick<SecretKeyTraits, 'prefix' | 'lastFour'>): string {
  return `${key.prefix}…${key.lastFour}`;
}

function traitsOf(secret: string, prefix: string): SecretKeyTraits {
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
