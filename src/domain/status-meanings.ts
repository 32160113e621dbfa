import type { PaymentStatus } from './payment-transitions';

/** The documentation of each status (docs/contract.md#states). */
export const STATUS_MEANINGS: Readonly<Record<PaymentStatus, string>> = {
  created: 'The transaction was created; the provider has not issued its QR yet.',
  pending: 'The QR was issued; the customer has not paid yet.',
  paid: 'The customer has paid.',
  expired: 'The deadline has passed; the provider accepts no payment any more.',
  settled: 'The net amount is in your balance, for a payout; the transaction cannot be cancelled or refunded any more.',
  failed: 'The provider rejected the transaction or the payment.',
  cancelled: 'The transaction was cancelled before it was paid.',
  refund_processing: 'A refund is in progress.',
  refund_failed: 'The provider rejected the refund; an operator resolves it.',
  refunded: 'The whole amount was returned to the customer.',
};
