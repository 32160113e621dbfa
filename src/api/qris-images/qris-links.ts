import { createHmac, timingSafeEqual } from 'node:crypto';
import type { PaymentRow } from '../../db/queries/payment-row';
import type { DerivedKeys } from '../../db/derived-keys';
import { keyIdOf } from '../../db/request-fingerprint';

const ID_BYTES = 16;
const MAC_BYTES = 16;
const KEY = 'lunas qris links';

/** The public, unguessable addresses of QR images. */
export interface QrisLinks {
  imageUrl(payment: Pick<PaymentRow, 'id' | 'fingerprint'>): Promise<string>;
  /** The payment of a token of ours; undefined for any other text. */
  paymentIdOf(token: string): Promise<string | undefined>;
}

/**
 * A token is the payment's id and its HMAC under a key derived from the master key, so it is not stored. The link of a
 * payment always uses the master key that was current at its creation: an idempotent replay has the same bytes.
 */
export function createQrisLinks(keys: DerivedKeys, publicBaseUrl: string): QrisLinks {
  return {
    async imageUrl({ id: paymentId, fingerprint }) {
      const id = Buffer.from(paymentId.replaceAll('-', ''), 'hex');
      const key = await keyOf(keys, fingerprint);
      return `${publicBaseUrl}/qris/${Buffer.concat([id, macOf(id, key)]).toString('base64url')}.png`;
    },
    async paymentIdOf(token) {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length !== ID_BYTES + MAC_BYTES) return undefined;
      const id = bytes.subarray(0, ID_BYTES);
      const isMadeWith = (key: Buffer) => timingSafeEqual(bytes.subarray(ID_BYTES), macOf(id, key));
      const isValid = keys.ofRing(KEY).some(isMadeWith) || [...(await keys.retired(KEY)).values()].some(isMadeWith);
      if (!isValid) return undefined;
      return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
  };
}

/** The fingerprint names the master key that was current when the payment was created; that of an old row does not. */
async function keyOf(keys: DerivedKeys, fingerprint: string): Promise<Buffer> {
  const keyId = keyIdOf(fingerprint);
  const key = keyId === undefined ? undefined : await keys.find(KEY, keyId);
  return key ?? keys.current(KEY).key;
}

function macOf(id: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(id).digest().subarray(0, MAC_BYTES);
}
