import { PAID_STATUSES, UNPAID_FINAL_STATUSES, type PaymentStatus } from '../../../domain/payment-transitions';

export const PAYMENT_GROUP_NAMES = ['all', 'waiting', 'paid', 'unpaid', 'attention', 'tried'] as const;
export type PaymentGroup = (typeof PAYMENT_GROUP_NAMES)[number];

/** The statuses of each choice in the list; null: every status. */
export const PAYMENT_GROUPS = {
  all: null,
  waiting: ['created', 'pending'],
  paid: PAID_STATUSES,
  unpaid: UNPAID_FINAL_STATUSES,
  attention: ['refund_failed', 'refund_processing'],
  /** What the success rate counts. A code that no customer scanned is no failure of the shop. */
  tried: [...PAID_STATUSES, 'failed'],
} as const satisfies Record<PaymentGroup, readonly PaymentStatus[] | null>;
