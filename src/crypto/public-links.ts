import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { PaymentRow } from '../db/payments/payment-row';
import type { DerivedKeys } from './derived-keys';
import { keyIdOf } from './keyed-hash';

const ID_BYTES = 16;
const MAC_BYTES = 16;
const KEY = 'lunas qris links';

/**
 * The public addresses of a payment, and that of a payment link. Caches and logs of others may contain that of the QR
 * image, which must not open the checkout page: so the purpose precedes the id in the input of the HMAC. Never change
 * one.
 */
const KINDS = {
  qrisImage: { purpose: '', pathOf: (token: string) => `/qris/${token}.png` },
  checkout: { purpose: 'checkout', pathOf: (token: string) => `/pay/${token}` },
  link: { purpose: 'link', pathOf: (token: string) => `/link/${token}` },
} as const;

/**
 * Unguessable addresses. The token in one is the object's id and its HMAC under a key derived from the master key, so
 * it is not stored. It always uses the master key that was current at the object's creation: an idempotent replay has
 * the same bytes.
 */
export class PublicLinks {
  readonly #kind: (typeof KINDS)[keyof typeof KINDS];

  constructor(
    private readonly keys: DerivedKeys,
    kind: keyof typeof KINDS,
    private readonly publicBaseUrl: string,
  ) {
    this.#kind = KINDS[kind];
  }

  async urlOf({ id, fingerprint }: Pick<PaymentRow, 'id' | 'fingerprint'>): Promise<string> {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const mac = this.#macOf(bytes, await keyOf(this.keys, fingerprint));
    return this.publicBaseUrl + this.#kind.pathOf(Buffer.concat([bytes, mac]).toString('base64url'));
  }

  /** The id in a token of ours; undefined for any other text. */
  async idOf(token: string): Promise<string | undefined> {
    const bytes = Buffer.from(token, 'base64url');
    // Node.js ignores characters that are not of base64url.
    if (bytes.length !== ID_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined;
    const id = bytes.subarray(0, ID_BYTES);
    const isMadeWith = (key: KeyObject) => timingSafeEqual(bytes.subarray(ID_BYTES), this.#macOf(id, key));
    const isValid =
      this.keys.ofRing(KEY).some(isMadeWith) || [...(await this.keys.retired(KEY)).values()].some(isMadeWith);
    if (!isValid) return undefined;
    return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  #macOf(id: Buffer, key: KeyObject): Buffer {
    return createHmac('sha256', key).update(this.#kind.purpose).update(id).digest().subarray(0, MAC_BYTES);
  }
}

/** The addresses of QR images, of checkout pages and of payment links. */
export interface PublicAddresses {
  readonly qrisLinks: PublicLinks;
  readonly checkoutLinks: PublicLinks;
  readonly linkAddresses: PublicLinks;
}

export function publicAddresses(keys: DerivedKeys, publicBaseUrl: string): PublicAddresses {
  return {
    qrisLinks: new PublicLinks(keys, 'qrisImage', publicBaseUrl),
    checkoutLinks: new PublicLinks(keys, 'checkout', publicBaseUrl),
    linkAddresses: new PublicLinks(keys, 'link', publicBaseUrl),
  };
}

/**
 * The fingerprint names the master key that was current when the object was created. If that was neither configured
 * nor retired, the current one makes an address that works.
 */
async function keyOf(keys: DerivedKeys, fingerprint: string): Promise<KeyObject> {
  return (await keys.find(KEY, keyIdOf(fingerprint))) ?? keys.current(KEY).key;
}
