import type { PaymentStatus } from '../../../domain/payment-transitions';

/** The statuses of each choice in the list; null: every status. */
export const PAYMENT_GROUPS = {
  all: null,
  waiting: ['created', 'pending'],
  paid: ['paid', 'settled', 'refund_processing', 'refund_failed', 'refunded'],
  unpaid: ['expired', 'cancelled', 'failed'],
  attention: ['refund_failed', 'refund_processing'],
  /** What the success rate counts. A code that no customer scanned is no failure of the shop. */
  tried: ['paid', 'settled', 'refund_processing', 'refund_failed', 'refunded', 'failed'],
} as const satisfies Record<string, readonly PaymentStatus[] | null>;
export type PaymentGroup = keyof typeof PAYMENT_GROUPS;

export const PAYMENT_GROUP_NAMES = ['all', 'waiting', 'paid', 'unpaid', 'attention', 'tried'] as const;
