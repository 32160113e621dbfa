import type { PaymentMethod, ProviderName } from '../../../domain/provider-capabilities';

/** What a merchant requests. */
export interface NewPayment {
  readonly amountRupiah: number;
  readonly paymentMethod: PaymentMethod;
  readonly provider: ProviderName;
  readonly merchantReferenceId: string | null;
  readonly customer: Readonly<Record<string, unknown>> | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}
