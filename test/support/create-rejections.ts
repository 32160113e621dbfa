import type { CreateReason, CreateRejection } from '../../src/services/payments/create/create-rejection';

/** One rejection of a creation for each reason. */
export const CREATE_REJECTIONS: { readonly [Reason in CreateReason]: CreateRejection<Reason> } = {
  payment_method_inactive: { reason: 'payment_method_inactive', paymentMethod: 'qris' },
  provider_not_enabled: { reason: 'provider_not_enabled', provider: 'shopeepay' },
  provider_unavailable: { reason: 'provider_unavailable', provider: 'gopay' },
  fee_reaches_amount: { reason: 'fee_reaches_amount', feeRupiah: 1_250 },
  total_too_large: { reason: 'total_too_large', feeRupiah: 70_000 },
  return_url_not_allowed: { reason: 'return_url_not_allowed', origin: 'https://other.example' },
  idempotency_key_reused: { reason: 'idempotency_key_reused' },
  idempotency_key_archived: { reason: 'idempotency_key_archived' },
  creates_in_flight: {
    reason: 'creates_in_flight',
    merchantId: 'merchant-1',
    provider: 'gopay',
    retryAfterSeconds: 1,
  },
  provider_rejected: {
    reason: 'provider_rejected',
    failureReason: 'the provider rejected it',
    status: 'failed',
    isRepeat: true,
  },
};
