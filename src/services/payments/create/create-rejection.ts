import type { PaymentStatus } from '../../../domain/payment-transitions';
import type { PaymentMethod, ProviderName } from '../../../domain/provider-capabilities';
import { UserError } from '../../../errors';

/** Every reason for which a payment is not created, with its data. */
export interface RejectionData {
  /** The payment method is not active for the merchant. */
  readonly payment_method_inactive: { readonly paymentMethod: PaymentMethod };
  readonly provider_not_enabled: { readonly provider: ProviderName };
  /** The provider has no policy, or no account that is in use. */
  readonly provider_unavailable: { readonly provider: ProviderName };
  /** The merchant pays the fee. */
  readonly fee_reaches_amount: { readonly feeRupiah: number };
  readonly total_too_large: { readonly feeRupiah: number };
  /** The return URL is not at a registered address of the shop. */
  readonly return_url_not_allowed: { readonly origin: string };
  /** The idempotency key has another payment. */
  readonly idempotency_key_reused: object;
  readonly idempotency_key_archived: object;
  /** The merchant has used its share of the slots. */
  readonly creates_in_flight: {
    readonly merchantId: string;
    readonly provider: ProviderName;
    readonly retryAfterSeconds: number;
  };
  /** The payment exists, and has failed. */
  readonly provider_rejected: {
    readonly failureReason: string | null;
    readonly status: PaymentStatus;
    /** An earlier request with the key had the same rejection. */
    readonly isRepeat: boolean;
  };
}

export type CreateReason = keyof RejectionData;

export type CreateRejection<Reason extends CreateReason = CreateReason> = {
  [Name in Reason]: { readonly reason: Name } & RejectionData[Name];
}[Reason];

/** There is no payment, but for `provider_rejected`. */
export interface NotCreated {
  readonly outcome: 'rejected';
  readonly rejection: CreateRejection;
}

/** A rejection within the creation: `createPayment` and `createPayments` return it. */
export class CreationRejectedError extends UserError {
  /** @param item its index, for a rejection of one item of a bulk */
  constructor(
    readonly rejection: CreateRejection,
    readonly item: number | null = null,
  ) {
    super(rejection.reason);
  }
}
