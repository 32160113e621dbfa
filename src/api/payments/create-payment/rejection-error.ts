import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../../domain/money';
import type { PaymentStatus } from '../../../domain/payment-transitions';
import { ApiError } from '../../../http/api-error';
import type { CreateReason, CreateRejection } from '../../../services/payments/create/create-rejection';

/** Header of an idempotent replay. */
export const REPLAYED_HEADER = { 'Idempotency-Replayed': 'true' } as const;

/** The headers of a repeat for one payment. The body is that of the first response, so a header has the status. */
export const replayHeaders = (status: PaymentStatus) => ({ ...REPLAYED_HEADER, 'X-Payment-Status': status });

interface Worded {
  readonly message: string;
  /** For the log; by default the message. */
  readonly internal?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The words of each rejection. Its reason is the one of `X-Error-Reason`, which has one code. */
const WORDS: { readonly [Reason in CreateReason]: (rejection: CreateRejection<Reason>) => Worded } = {
  payment_method_inactive: ({ paymentMethod }) => ({ message: `${paymentMethod} is not active for you.` }),
  provider_not_enabled: ({ provider }) => ({ message: `provider ${provider} is not enabled for you.` }),
  provider_unavailable: ({ provider }) => ({ message: `provider ${provider} is not available at present.` }),
  fee_reaches_amount: ({ feeRupiah }) => ({
    message: `amount does not exceed its fee of ${formatRupiah(feeRupiah)}, which you pay.`,
  }),
  total_too_large: ({ feeRupiah }) => ({
    message: `amount and its fee of ${formatRupiah(feeRupiah)} exceed ${formatRupiah(MAX_TOTAL_RUPIAH)}.`,
  }),
  return_url_not_allowed: ({ origin }) => ({
    message: `return_url must be at an address of your shop: register ${origin} first.`,
  }),
  idempotency_key_reused: () => ({
    message: 'This idempotency key belongs to a payment with other contents. Use a new key.',
  }),
  idempotency_key_archived: () => ({
    message: 'This idempotency key belongs to a payment that is archived. Use a new key for a new payment.',
  }),
  creates_in_flight: ({ merchantId, provider, retryAfterSeconds }) => ({
    message: `Too many creations are in flight; try again in ${retryAfterSeconds} s.`,
    headers: { 'Retry-After': String(retryAfterSeconds) },
    internal: `no slot for merchant ${merchantId} at ${provider}`,
  }),
  provider_rejected: ({ failureReason, status, isRepeat }) => ({
    message: providerRejection(failureReason),
    headers: isRepeat ? replayHeaders(status) : {},
  }),
};

export function rejectionMessage<Reason extends CreateReason>(rejection: CreateRejection<Reason>): string {
  return WORDS[rejection.reason](rejection).message;
}

/** The sentence of a payment for which the provider issued no QR. */
export function providerRejection(failureReason: string | null): string {
  return `The transaction could not be created: ${(failureReason ?? 'no reason given').replace(/\.$/, '')}.`;
}

/** @param item the index of the item of a bulk that is rejected */
export function rejectionError<Reason extends CreateReason>(
  rejection: CreateRejection<Reason>,
  item: number | null = null,
): ApiError {
  const { message, internal = message, headers = {} } = WORDS[rejection.reason](rejection);
  const at = item === null ? '' : `payments[${item}]: `;
  return new ApiError(rejection.reason, `${at}${message}`, { internal: `${at}${internal}`, headers });
}
