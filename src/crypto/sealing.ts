import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { KeyRing } from './master-keys';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 'v2';
/** Sealed before values were bound to their row: only the purpose is authenticated. `lunas keys reseal` removes it. */
const UNBOUND_FORMAT = 'v1';

/**
 * Where a sealed value is stored: its purpose, the id of its row, and further columns that an attacker must not change.
 * All of it is authenticated with the value, which opens nowhere else.
 */
export type SealedPlace =
  | readonly [purpose: 'payment-details', paymentId: string]
  | readonly [purpose: 'provider-server-key', accountId: string, adapter: string, baseUrl: string]
  | readonly [purpose: 'webhook-secret', secretId: string]
  | readonly [purpose: 'retired-key', keyId: string, label: string];

/**
 * Encrypts secrets and personal data for the database: AES-256-GCM under the current master key.
 * A sealed text is `v2.<key id>.<base64url of iv, tag, ciphertext>`.
 */
export interface Sealer {
  readonly keys: KeyRing;
  seal(plaintext: string, place: SealedPlace): string;
  /** @throws if the text was sealed with a key that the ring lacks or for another place, or was changed */
  open(sealed: string, place: SealedPlace): string;
}

/** @param masterKey 32 bytes in base64, like each of the old ones, which only open */
export function createSealer(masterKey: string, oldMasterKeys: readonly string[] = []): Sealer {
  const keys = new KeyRing(masterKey, oldMasterKeys);
  const { current } = keys;
  return {
    keys,
    seal(plaintext, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, current.key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(FORMAT, place));
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return [FORMAT, current.id, Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64url')].join('.');
    },
    open(sealed, place) {
      const [format, keyId, body] = sealed.split('.');
      if ((format !== FORMAT && format !== UNBOUND_FORMAT) || keyId === undefined || body === undefined) {
        throw new Error('Not a sealed text');
      }
      const key = keys.byId(keyId);
      if (!key) throw new Error(`Sealed with key ${keyId}, but LUNAS_MASTER_KEY is key ${current.id}`);
      const bytes = Buffer.from(body, 'base64url');
      // Node.js accepts a tag of 4 bytes unless the length is given: a text cut to 16 bytes would open once in 2^32.
      if (bytes.length < IV_BYTES + TAG_BYTES) throw new Error('Not a sealed text: it is too short');
      const iv = bytes.subarray(0, IV_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key.key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(associatedData(format, place)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
    },
  };
}

/** Sealed values of the current format and key begin with this; `lunas keys reseal` rewrites the others. */
export function sealedPrefix({ keys }: Sealer): string {
  return `${FORMAT}.${keys.current.id}.`;
}

function associatedData(format: typeof FORMAT | typeof UNBOUND_FORMAT, place: SealedPlace): Buffer {
  return Buffer.from(format === FORMAT ? JSON.stringify(place) : place[0]);
}
