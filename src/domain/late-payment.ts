import type { LedgerLine } from './ledger';
import type { PaymentTerms } from './payment';

/** Money that came after the end: in hand · asked back for · given back · kept for a person to see to. */
export const LATE_PAYMENT_STATUSES = ['received', 'submitted', 'refunded', 'manual_review'] as const;
export type LatePaymentStatus = (typeof LATE_PAYMENT_STATUSES)[number];

/** Neither refunded nor in manual review. */
export const OPEN_LATE_PAYMENT_STATUSES = ['received', 'submitted'] as const satisfies readonly LatePaymentStatus[];

/** What the ledger books for late money: it belongs to nobody until the customer has it back. */
export const LATE_PAYMENT_POSTINGS = {
  receive: [
    { side: 'debit', account: 'provider_receivable', amount: 'total' },
    { side: 'credit', account: 'suspense', amount: 'total' },
  ],
  refund: [
    { side: 'debit', account: 'suspense', amount: 'total' },
    { side: 'credit', account: 'provider_receivable', amount: 'total' },
  ],
  /** An operator gave it back by another way than the provider's refund. */
  refund_manually: [
    { side: 'debit', account: 'suspense', amount: 'total' },
    { side: 'credit', account: 'cash', amount: 'total' },
  ],
} as const satisfies Record<string, readonly LedgerLine[]>;

export type LatePaymentStep = keyof typeof LATE_PAYMENT_POSTINGS;

/** What the provider knows the refund of late money by, at every attempt. */
export function lateRefundKeyOf(referenceId: string): string {
  return `${referenceId}-LATE`;
}

/** What the workflow of late money gives to its activities: the payment that has ended, and the business instant. */
export interface LatePaymentRequest {
  readonly terms: PaymentTerms;
  /** The workflow's clock, in milliseconds since 1970. */
  readonly atMs: number;
}

/** Where the money stands: `none` came, or what became of it. */
export interface LatePaymentResult {
  readonly status: LatePaymentStatus | 'none';
  /** What a person should look into, if anything. */
  readonly attentionReason?: string;
}
