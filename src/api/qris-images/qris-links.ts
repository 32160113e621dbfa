import type { DerivedKeys } from '../../crypto/derived-keys';
import type { PaymentRow } from '../../db/queries/payment-row';
import { PublicTokens } from '../../crypto/public-tokens';

/** The public, unguessable addresses of QR images. */
export interface QrisLinks {
  imageUrl(payment: Pick<PaymentRow, 'id' | 'fingerprint'>): Promise<string>;
  /** The payment of a token of ours; undefined for any other text. */
  paymentIdOf(token: string): Promise<string | undefined>;
}

export function createQrisLinks(keys: DerivedKeys, publicBaseUrl: string): QrisLinks {
  const tokens = new PublicTokens(keys, 'qrisImage');
  return {
    imageUrl: async (payment) => `${publicBaseUrl}/qris/${await tokens.of(payment)}.png`,
    paymentIdOf: (token) => tokens.paymentIdOf(token),
  };
}
