import type { LedgerLine } from './ledger';

/** Contract: "States and transitions". */
export const PAYMENT_STATUSES = [
  'created',
  'pending',
  'paid',
  'expired',
  'settled',
  'failed',
  'cancelled',
  'refund_processing',
  'refund_failed',
  'refunded',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

interface TransitionRule {
  readonly from: PaymentStatus | null;
  readonly to: PaymentStatus;
  readonly posting: readonly LedgerLine[];
}

const CUSTOMER_PAID = [
  { side: 'debit', account: 'provider_receivable', amount: 'total' },
  { side: 'credit', account: 'merchant_pending', amount: 'net' },
  { side: 'credit', account: 'fee_revenue', amount: 'fee' },
] as const satisfies readonly LedgerLine[];

/** The customer gets the total back and the fee stays owed: it leaves the merchant's available balance at −fee. */
const CUSTOMER_REFUNDED = [
  { side: 'debit', account: 'merchant_pending', amount: 'net' },
  { side: 'debit', account: 'merchant_available', amount: 'fee' },
  { side: 'credit', account: 'provider_receivable', amount: 'total' },
] as const satisfies readonly LedgerLine[];

/** The same, paid by an operator by another way: what the provider owes us does not change. */
const CUSTOMER_REFUNDED_MANUALLY = [
  { side: 'debit', account: 'merchant_pending', amount: 'net' },
  { side: 'debit', account: 'merchant_available', amount: 'fee' },
  { side: 'credit', account: 'cash', amount: 'total' },
] as const satisfies readonly LedgerLine[];

const FUNDS_SETTLED = [
  { side: 'debit', account: 'merchant_pending', amount: 'net' },
  { side: 'credit', account: 'merchant_available', amount: 'net' },
] as const satisfies readonly LedgerLine[];

/**
 * THE table: every step that a payment can take, and what the ledger books for it. Nothing else changes a status.
 * Entering a status is the event `payment.<status>`; `submit_refund` enters none, it closes the way back to `paid`.
 */
export const PAYMENT_TRANSITIONS = {
  create: { from: null, to: 'created', posting: [] },
  issue: { from: 'created', to: 'pending', posting: [] },
  fail_creation: { from: 'created', to: 'failed', posting: [] },
  pay: { from: 'pending', to: 'paid', posting: CUSTOMER_PAID },
  expire: { from: 'pending', to: 'expired', posting: [] },
  cancel: { from: 'pending', to: 'cancelled', posting: [] },
  fail: { from: 'pending', to: 'failed', posting: [] },
  request_refund: { from: 'paid', to: 'refund_processing', posting: [] },
  submit_refund: { from: 'refund_processing', to: 'refund_processing', posting: [] },
  cancel_refund: { from: 'refund_processing', to: 'paid', posting: [] },
  confirm_refund: { from: 'refund_processing', to: 'refunded', posting: CUSTOMER_REFUNDED },
  fail_refund: { from: 'refund_processing', to: 'refund_failed', posting: [] },
  retry_refund: { from: 'refund_failed', to: 'refund_processing', posting: [] },
  confirm_failed_refund: { from: 'refund_failed', to: 'refunded', posting: CUSTOMER_REFUNDED },
  resolve_refund_as_refunded: { from: 'refund_failed', to: 'refunded', posting: CUSTOMER_REFUNDED_MANUALLY },
  resolve_refund_as_paid: { from: 'refund_failed', to: 'paid', posting: [] },
  settle: { from: 'paid', to: 'settled', posting: FUNDS_SETTLED },
} as const satisfies Record<string, TransitionRule>;

export type TransitionName = keyof typeof PAYMENT_TRANSITIONS;

/** Statuses that no transition leaves: the workflow of such a payment is done. */
export function isFinal(status: PaymentStatus): boolean {
  return !Object.values(PAYMENT_TRANSITIONS).some((rule) => rule.from === status);
}
