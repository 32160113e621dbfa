import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** How many bytes longer than the plaintext the encrypted bytes are. */
export const OVERHEAD_BYTES = IV_BYTES + TAG_BYTES;

/**
 * Encrypts and authenticates with AES-256-GCM, under a random initialization vector.
 * @param key of 32 bytes
 * @param associatedData authenticated too, and not contained in the result
 * @returns initialization vector, tag, ciphertext
 */
export function encrypt(key: KeyObject, plaintext: Uint8Array, associatedData: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(associatedData));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]);
}

/**
 * Decrypts what `encrypt` returned.
 * @throws Error if the bytes are not authentic: of another key, of other associated data, or changed
 */
export function decrypt(key: KeyObject, encrypted: Uint8Array, associatedData: string): Buffer {
  // Node.js accepts a tag of 4 bytes unless the length is given: a text cut to 16 bytes would open once in 2^32.
  if (encrypted.length < OVERHEAD_BYTES) throw new Error('it is too short');
  const iv = encrypted.subarray(0, IV_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(associatedData)).setAuthTag(encrypted.subarray(IV_BYTES, OVERHEAD_BYTES));
  return Buffer.concat([decipher.update(encrypted.subarray(OVERHEAD_BYTES)), decipher.final()]);
}
