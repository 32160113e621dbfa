import { PAID_STATUSES, PAYMENT_STATUSES, type PaymentStatus } from './payment-transitions';

/** `refunded`: the bank confirmed the refund of the total. Until then the order is `paid`. */
export const PROVIDER_PAYMENT_STATUSES = ['pending', 'paid', 'expired', 'cancelled', 'denied', 'refunded'] as const;
export type ProviderPaymentStatus = (typeof PROVIDER_PAYMENT_STATUSES)[number];

/** The status that a notification reports; null if only a status query can determine it. */
export type ReportedStatus = ProviderPaymentStatus | null;

/** The statuses of a payment that already reflect what the provider reports: no status query is necessary. */
export const PAYMENT_STATUSES_REFLECTING = {
  pending: PAYMENT_STATUSES,
  paid: PAID_STATUSES,
  expired: ['expired'],
  cancelled: ['cancelled'],
  denied: ['failed'],
  refunded: ['refunded'],
} as const satisfies Record<ProviderPaymentStatus, readonly PaymentStatus[]>;

/** The provider statuses that a payment in this status reflects: the inverse of `PAYMENT_STATUSES_REFLECTING`. */
export function reflectedAt(status: PaymentStatus): readonly ProviderPaymentStatus[] {
  return PROVIDER_PAYMENT_STATUSES.filter((reported) => {
    const knownAt: readonly PaymentStatus[] = PAYMENT_STATUSES_REFLECTING[reported];
    return knownAt.includes(status);
  });
}

const ALL_BUT_REFUNDED = [null, 'pending', 'paid', 'expired', 'cancelled', 'denied'] as const;

/**
 * The earlier notifications that a status query covers, by the status that the provider reports now. The status may
 * lag behind the provider's own notifications. So an unpaid order does not cover a reported payment, nor a paid one a
 * refund.
 */
export const COVERED_BY = {
  pending: ['pending'],
  paid: ALL_BUT_REFUNDED,
  expired: ['pending', 'expired'],
  cancelled: ['pending', 'cancelled'],
  denied: ['pending', 'denied'],
  refunded: [...ALL_BUT_REFUNDED, 'refunded'],
} as const satisfies Record<ProviderPaymentStatus, readonly ReportedStatus[]>;

/**
 * What made the provider's status known, for metrics. `notification`: the provider's · `sweeper`: the same, after
 * the sweeper signalled again · `expiry`: the query at the deadline · `query`: another query, such as
 * that of a cancellation or a reconciliation.
 */
export const CONFIRMATION_CAUSES = ['notification', 'sweeper', 'expiry', 'query'] as const;

export type ConfirmationCause = (typeof CONFIRMATION_CAUSES)[number];
