import { isUtf8 } from 'node:buffer';
import { createHash, createHmac, sign, verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const signAsync = promisify(sign);

/** RSA-SHA256 with PKCS #1 v1.5, the only RSA signature of SNAP. */
const RSA_SHA256 = 'RSA-SHA256';

/** What the signature of a call or of a notification covers. */
export interface SignedParts {
  readonly method: 'POST';
  /** In full, as the acquirer signs it: without the path of the base URL. */
  readonly path: string;
  /** Null: this kind of signature has none. */
  readonly token: string | null;
  readonly bodyHash: string;
  readonly timestamp: string;
}

/** The text that the signature of a call covers. */
export function callString({ method, path, token, bodyHash, timestamp }: SignedParts): string {
  return [method, path, ...(token === null ? [] : [token]), bodyHash, timestamp].join(':');
}

/** The text that the signature of a request for a token covers. */
export function tokenString(clientId: string, timestamp: string): string {
  return `${clientId}|${timestamp}`;
}

/** SHA-256 of the bytes that are sent, in lower-case hex. */
export function bodyHash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** HMAC-SHA512 with the client secret, in base64. */
export function signHmac(clientSecret: string, text: string): string {
  return createHmac('sha512', clientSecret).update(text).digest('base64');
}

/** On the thread pool: a signature takes 0.7 ms of CPU. */
export async function signRsa(privateKey: KeyObject, text: string): Promise<string> {
  return (await signAsync(RSA_SHA256, Buffer.from(text), privateKey)).toString('base64');
}

/** A signature that is not base64 of the right length is invalid, and no exception. */
export function verifyRsa(publicKey: KeyObject, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64');
  if (bytes.toString('base64') !== signature) return false;
  return verify(RSA_SHA256, Buffer.from(text), publicKey, bytes);
}

export interface SignedBody extends Omit<SignedParts, 'bodyHash' | 'token'> {
  readonly bytes: Buffer;
  readonly signature: string;
}

/**
 * Whether one of the keys signed this body. Some acquirers sign compact JSON and send it with spaces. So the bytes are
 * verified as they arrived, and then without insignificant white space. The body is never parsed and serialised again:
 * that changes `\/`, `1.0` and `\u00e9`.
 */
export function verifyBody(publicKeys: readonly KeyObject[], { bytes, signature, ...parts }: SignedBody): boolean {
  if (!isUtf8(bytes)) return false;
  const isSigned = (body: Buffer): boolean => {
    const text = callString({ ...parts, token: null, bodyHash: bodyHash(body) });
    return publicKeys.some((key) => verifyRsa(key, text, signature));
  };
  return isSigned(bytes) || isSigned(stripInsignificantWhitespace(bytes));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Space, tab, line feed, carriage return (RFC 8259). In UTF-8 no other character contains these bytes. */
const WHITESPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Removes the white space outside of strings from JSON. Every other byte stays. */
export function stripInsignificantWhitespace(bytes: Buffer): Buffer {
  const kept = Buffer.alloc(bytes.length);
  let length = 0;
  let isInString = false;
  let isEscaped = false;
  for (const byte of bytes) {
    if (!isInString && WHITESPACE.has(byte)) continue;
    kept[length] = byte;
    length += 1;
    if (byte === QUOTE && !isEscaped) isInString = !isInString;
    isEscaped = isInString && byte === BACKSLASH && !isEscaped;
  }
  return kept.subarray(0, length);
}
