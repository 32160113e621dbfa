import type { PaymentMethod, ProviderName } from '../../../domain/provider-capabilities';
import type { SentDetails } from '../payment-details';

/** What a merchant requests. */
export interface NewPayment extends SentDetails {
  readonly amountRupiah: number;
  readonly paymentMethod: PaymentMethod;
  readonly provider: ProviderName;
  readonly merchantReferenceId: string | null;
  /** How long the customer can pay; null: as the policy of the provider has it. */
  readonly expiresInSeconds: number | null;
}
