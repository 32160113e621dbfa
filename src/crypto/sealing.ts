import { decrypt, encrypt } from './aead';
import { KeyRing } from './master-keys';

const FORMAT = 'v1';

/**
 * Where a sealed value is stored: its purpose, the id of its row, and further columns that an attacker must not change.
 * All of it is authenticated with the value, which opens nowhere else.
 */
export type SealBinding =
  | readonly [purpose: 'payment-details', paymentId: string]
  | readonly [purpose: 'provider-server-key', accountId: string, adapter: string, baseUrl: string]
  | readonly [purpose: 'provider-credentials', accountId: string, adapter: string, baseUrl: string]
  | readonly [purpose: 'webhook-secret', secretId: string]
  | readonly [purpose: 'bank-account-number', accountId: string, merchantId: string, bankCode: string]
  | readonly [purpose: 'bank-account-holder', accountId: string]
  | readonly [purpose: 'payout-terms', payoutId: string]
  | readonly [purpose: 'merchant-identity', merchantId: string, version: string]
  | readonly [purpose: 'fee-invoice', invoiceId: string]
  | readonly [purpose: 'totp', userId: string]
  | readonly [purpose: 'totp-enrolment', sessionId: string]
  | readonly [purpose: 'known-browser', realm: string, email: string]
  | readonly [purpose: 'retired-key', keyId: string, label: string];

/**
 * Encrypts secrets and personal data for the database: AES-256-GCM under the current master key.
 * A sealed text is `v1.<key id>.<base64url of iv, tag, ciphertext>`.
 */
export interface Sealer {
  readonly keys: KeyRing;
  seal(plaintext: string, binding: SealBinding): string;
  /** @throws if the text was sealed with a key that the ring lacks or with another binding, or was changed */
  open(sealed: string, binding: SealBinding): string;
}

/** @param masterKey 32 bytes in base64, like each of the old ones, which only open */
export function createSealer(masterKey: string, oldMasterKeys: readonly string[] = []): Sealer {
  const keys = new KeyRing(masterKey, oldMasterKeys);
  const { current } = keys;
  return {
    keys,
    seal(plaintext, binding) {
      const bytes = encrypt(current.key, Buffer.from(plaintext), JSON.stringify(binding));
      return [FORMAT, current.id, bytes.toString('base64url')].join('.');
    },
    open(sealed, binding) {
      const [format, keyId, body] = sealed.split('.');
      if (format !== FORMAT || keyId === undefined || body === undefined) throw new Error('Not a sealed text');
      const key = keys.byId(keyId);
      if (!key) throw new Error(`Sealed with key ${keyId}, but LUNAS_MASTER_KEY is key ${current.id}`);
      return decrypt(key.key, Buffer.from(body, 'base64url'), JSON.stringify(binding)).toString();
    },
  };
}

/** Sealed values of the current key begin with this; `lunas keys reseal` rewrites the others. */
export function sealedPrefix({ keys }: Sealer): string {
  return `${FORMAT}.${keys.current.id}.`;
}
