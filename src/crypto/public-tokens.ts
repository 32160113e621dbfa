import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { DerivedKeys } from './derived-keys';
import type { PaymentRow } from '../db/queries/payment-row';
import { keyIdOf } from './request-fingerprint';

const ID_BYTES = 16;
const MAC_BYTES = 16;
const KEY = 'lunas qris links';

/** Precedes the id in the input of the HMAC, so that a token of one kind is not one of another. Never change one. */
const PURPOSES = { qrisImage: '', checkout: 'checkout' } as const;

/**
 * The unguessable part of a payment's public addresses: the payment's id and its HMAC under a key derived from the
 * master key, so it is not stored. The token of a payment always uses the master key that was current at its creation:
 * an idempotent replay has the same bytes.
 */
export class PublicTokens {
  constructor(
    private readonly keys: DerivedKeys,
    private readonly purpose: keyof typeof PURPOSES,
  ) {}

  async of({ id: paymentId, fingerprint }: Pick<PaymentRow, 'id' | 'fingerprint'>): Promise<string> {
    const id = Buffer.from(paymentId.replaceAll('-', ''), 'hex');
    const mac = this.#macOf(id, await keyOf(this.keys, fingerprint));
    return Buffer.concat([id, mac]).toString('base64url');
  }

  /** The payment of a token of ours; undefined for any other text. */
  async paymentIdOf(token: string): Promise<string | undefined> {
    const bytes = Buffer.from(token, 'base64url');
    if (bytes.length !== ID_BYTES + MAC_BYTES) return undefined;
    const id = bytes.subarray(0, ID_BYTES);
    const isMadeWith = (key: KeyObject) => timingSafeEqual(bytes.subarray(ID_BYTES), this.#macOf(id, key));
    const isValid =
      this.keys.ofRing(KEY).some(isMadeWith) || [...(await this.keys.retired(KEY)).values()].some(isMadeWith);
    if (!isValid) return undefined;
    return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  #macOf(id: Buffer, key: KeyObject): Buffer {
    return createHmac('sha256', key).update(PURPOSES[this.purpose]).update(id).digest().subarray(0, MAC_BYTES);
  }
}

/** The fingerprint names the master key that was current when the payment was created; that of an old row does not. */
async function keyOf(keys: DerivedKeys, fingerprint: string): Promise<KeyObject> {
  const keyId = keyIdOf(fingerprint);
  const key = keyId === undefined ? undefined : await keys.find(KEY, keyId);
  return key ?? keys.current(KEY).key;
}
