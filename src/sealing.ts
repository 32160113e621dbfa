import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 'v1';

/** The purpose of a sealed text. It is authenticated with the text, which opens only for the same purpose. */
export type SealedThing = 'payment-details' | 'provider-server-key' | 'webhook-secret';

/**
 * Encrypts secrets and personal data for the database: AES-256-GCM under `LUNAS_MASTER_KEY`.
 * A sealed text is `v1.<key id>.<base64url of iv, tag, ciphertext>`.
 */
export type Sealer = ReturnType<typeof createSealer>;

/** @param masterKey 32 bytes in base64 */
export function createSealer(masterKey: string) {
  const key = Buffer.from(masterKey, 'base64');
  const keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return {
    seal(plaintext: string, thing: SealedThing): string {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(thing));
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return [FORMAT, keyId, Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64url')].join('.');
    },
    /** @throws if the text was sealed with another key or for another purpose, or was changed */
    open(sealed: string, thing: SealedThing): string {
      const [format, sealedWith, body] = sealed.split('.');
      if (format !== FORMAT || body === undefined) throw new Error('Not a sealed text');
      if (sealedWith !== keyId) throw new Error(`Sealed with key ${sealedWith}, but LUNAS_MASTER_KEY is key ${keyId}`);
      const bytes = Buffer.from(body, 'base64url');
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(thing));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
    },
  };
}
