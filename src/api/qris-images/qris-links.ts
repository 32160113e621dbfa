import { createHmac, timingSafeEqual } from 'node:crypto';

const ID_BYTES = 16;
const MAC_BYTES = 16;

/** The public, unguessable addresses of QR images. */
export type QrisLinks = ReturnType<typeof createQrisLinks>;

/** A token is the payment's id and its HMAC under a key derived from the master key, so it is not stored. */
export function createQrisLinks(masterKey: string, publicBaseUrl: string) {
  const key = createHmac('sha256', Buffer.from(masterKey, 'base64')).update('lunas qris links').digest();
  const macOf = (id: Buffer) => createHmac('sha256', key).update(id).digest().subarray(0, MAC_BYTES);
  return {
    imageUrl(paymentId: string): string {
      const id = Buffer.from(paymentId.replaceAll('-', ''), 'hex');
      return `${publicBaseUrl}/qris/${Buffer.concat([id, macOf(id)]).toString('base64url')}.png`;
    },
    /** The payment of a token of ours; undefined for any other text. */
    paymentIdOf(token: string): string | undefined {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length !== ID_BYTES + MAC_BYTES) return undefined;
      const id = bytes.subarray(0, ID_BYTES);
      if (!timingSafeEqual(bytes.subarray(ID_BYTES), macOf(id))) return undefined;
      return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
  };
}
