import { createHash, createHmac, createSign, createVerify, timingSafeEqual } from 'node:crypto';

/*
 * This is the acquirer's side of SNAP, written from the standard. It shares no code with src/snap: an error in both
 * would be invisible otherwise.
 */

/** Whether the base64 signature of this text is of the RSA key. */
export function isSignedByKey(publicKeyPem: string, text: string, signature: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(signature)) return false;
  return createVerify('sha256').update(text).verify(publicKeyPem, signature, 'base64');
}

export function signWithKey(privateKeyPem: string, text: string): string {
  return createSign('sha256').update(text).sign(privateKeyPem, 'base64');
}

/** Whether the base64 signature of this text was made with the client secret. */
export function isSignedBySecret(secret: string, text: string, signature: string): boolean {
  const expected = createHmac('sha512', secret).update(text, 'utf8').digest();
  const given = Buffer.from(signature, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export interface SignedRequest {
  readonly path: string;
  /** Empty without a token. */
  readonly token: string;
  readonly timestamp: string;
  readonly rawBody: Buffer;
}

/** How a body can be signed: as it arrived, or compact, as some clients sign it before they send it with spaces. */
export const BODY_FORMS = {
  raw: (rawBody: Buffer) => rawBody.toString('latin1'),
  // A string, or a run of white space outside of strings. Latin 1 has one character for each byte.
  compact: (rawBody: Buffer) => rawBody.toString('latin1').replaceAll(STRING_OR_SPACE, (part) => part.trim()),
} as const;
export type BodyForm = keyof typeof BODY_FORMS;

const STRING_OR_SPACE = /"(?:[^"\\]|\\.)*"?|[ \t\r\n]+/gs;

/** `POST:path[:token]:hash:timestamp` */
export function textToSign({ path, token, timestamp, rawBody }: SignedRequest, form: BodyForm): string {
  const hash = createHash('sha256').update(BODY_FORMS[form](rawBody), 'latin1').digest('hex');
  return ['POST', path, token, hash, timestamp].filter((part) => part !== '').join(':');
}
