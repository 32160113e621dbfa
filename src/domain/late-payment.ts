import type { LedgerLine } from './ledger';
import type { StepInput } from './workflow-step';

/** Received · its refund submitted to the provider · refunded · waiting for an operator. */
export const LATE_PAYMENT_STATUSES = ['received', 'submitted', 'refunded', 'manual_review'] as const;
export type LatePaymentStatus = (typeof LATE_PAYMENT_STATUSES)[number];

/** The statuses of a late payment that is neither refunded nor in manual review. */
export const OPEN_LATE_PAYMENT_STATUSES = ['received', 'submitted'] as const satisfies readonly LatePaymentStatus[];

/** The lines that the ledger posts for a late payment: the money is in suspense until the customer is refunded. */
export const LATE_PAYMENT_POSTINGS = {
  receive: [
    { side: 'debit', account: 'provider_receivable', amount: 'total' },
    { side: 'credit', account: 'suspense', amount: 'total' },
  ],
  refund: [
    { side: 'debit', account: 'suspense', amount: 'total' },
    { side: 'credit', account: 'provider_receivable', amount: 'total' },
  ],
  /** An operator refunded the customer from our bank account. */
  refund_manually: [
    { side: 'debit', account: 'suspense', amount: 'total' },
    { side: 'credit', account: 'cash', amount: 'total' },
  ],
} as const satisfies Record<string, readonly LedgerLine[]>;

export type LatePaymentStep = keyof typeof LATE_PAYMENT_POSTINGS;

/** The refund's key at the provider, the same at every attempt. */
export function lateRefundKeyOf(referenceId: string): string {
  return `${referenceId}-LATE`;
}

/** Input of the activities of a late payment's workflow. */
export type LatePaymentRequest = Pick<StepInput, 'terms' | 'atMs'>;

/** The status of the late payment; `none` if there is none. */
export interface LatePaymentResult {
  readonly status: LatePaymentStatus | 'none';
  /** Why an operator should look at it; absent if there is no reason. */
  readonly attentionReason?: string;
}
