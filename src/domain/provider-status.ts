import { PAID_STATUSES, PAYMENT_STATUSES, type PaymentStatus } from './payment-transitions';

/** `refunded`: the bank has confirmed that all of it went back; until then a refund leaves the payment `paid`. */
export const PROVIDER_PAYMENT_STATUSES = ['pending', 'paid', 'expired', 'cancelled', 'denied', 'refunded'] as const;
export type ProviderPaymentStatus = (typeof PROVIDER_PAYMENT_STATUSES)[number];

/** What a notification reports; null where only a status query can tell. */
export type ReportedStatus = ProviderPaymentStatus | null;

/** Where a payment stands when it is no news that the provider says this: nobody needs to ask. */
export const PAYMENT_STATUSES_REFLECTING = {
  pending: PAYMENT_STATUSES,
  paid: PAID_STATUSES,
  expired: ['expired'],
  cancelled: ['cancelled'],
  denied: ['failed'],
  refunded: ['refunded'],
} as const satisfies Record<ProviderPaymentStatus, readonly PaymentStatus[]>;

/** What a payment reflects that stands here: the opposite view of `NO_NEWS_AT`. */
export function reflectedAt(status: PaymentStatus): readonly ProviderPaymentStatus[] {
  return PROVIDER_PAYMENT_STATUSES.filter((reported) => {
    const knownAt: readonly PaymentStatus[] = PAYMENT_STATUSES_REFLECTING[reported];
    return knownAt.includes(status);
  });
}

const ALL_BUT_REFUNDED = [null, 'pending', 'paid', 'expired', 'cancelled', 'denied'] as const;

/**
 * Which earlier notifications a status query covers, by what the provider reports now. Its status may lag behind its own
 * notifications: an unpaid order says nothing about one that reported money, nor a paid one about a refund.
 */
export const COVERED_BY = {
  pending: ['pending'],
  paid: ALL_BUT_REFUNDED,
  expired: ['pending', 'expired'],
  cancelled: ['pending', 'cancelled'],
  denied: ['pending', 'denied'],
  refunded: [...ALL_BUT_REFUNDED, 'refunded'],
} as const satisfies Record<ProviderPaymentStatus, readonly ReportedStatus[]>;
