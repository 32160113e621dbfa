import type { DerivedKeys } from '../../crypto/derived-keys';
import type { PaymentRow } from '../../db/queries/payment-row';
import { PublicTokens } from '../../crypto/public-tokens';

/**
 * The public, unguessable addresses of checkout pages. The token differs from that of the QR image: caches and logs of
 * others may contain the image's address, which must not open the page.
 */
export interface CheckoutLinks {
  pageUrl(payment: Pick<PaymentRow, 'id' | 'fingerprint'>): Promise<string>;
  /** The payment of a token of ours; undefined for any other text. */
  paymentIdOf(token: string): Promise<string | undefined>;
}

export function createCheckoutLinks(keys: DerivedKeys, publicBaseUrl: string): CheckoutLinks {
  const tokens = new PublicTokens(keys, 'checkout');
  return {
    pageUrl: async (payment) => `${publicBaseUrl}/pay/${await tokens.of(payment)}`,
    paymentIdOf: (token) => tokens.paymentIdOf(token),
  };
}
