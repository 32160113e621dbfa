import { PAYMENT_STATUSES, type PaymentStatus } from './payment-transitions';

/** `refunded`: the bank has confirmed that all of it went back; until then a refund leaves the payment `paid`. */
export type ProviderPaymentStatus = 'pending' | 'paid' | 'expired' | 'cancelled' | 'denied' | 'refunded';

/** Where a payment stands when it is no news that the provider says this: nobody needs to ask. */
export const NO_NEWS_AT = {
  pending: PAYMENT_STATUSES,
  paid: ['paid', 'settled', 'refund_processing', 'refund_failed', 'refunded'],
  expired: ['expired'],
  cancelled: ['cancelled'],
  denied: ['failed'],
  refunded: ['refunded'],
} as const satisfies Record<ProviderPaymentStatus, readonly PaymentStatus[]>;
