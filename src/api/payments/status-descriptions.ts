import type { PaymentStatus } from '../../domain/payment-transitions';

/** What merchants read about each status (contract, "States and transitions"). */
export const STATUS_MEANINGS: Readonly<Record<PaymentStatus, string>> = {
  created: 'The transaction was created; the provider has not issued its QR yet.',
  pending: 'The QR is there; the customer has not paid yet.',
  paid: 'The customer has paid.',
  expired: 'The deadline has passed, and the provider takes no payment any more.',
  settled: 'The funds are in settlement; the transaction cannot be cancelled or refunded any more.',
  failed: 'The provider refused the transaction or the payment.',
  cancelled: 'The transaction was cancelled before it was paid.',
  refund_processing: 'A refund is under way.',
  refund_failed: 'The provider refused the refund; we look into it.',
  refunded: 'The customer has got the whole amount back.',
};
