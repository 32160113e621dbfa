import type { LedgerLine } from './ledger';
import type { RefundStatus } from './refund';

/** Every status of docs/contract.md#states. */
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

export interface TransitionRule {
  /** Null: the payment is created. */
  readonly from: PaymentStatus | null;
  readonly to: PaymentStatus;
  readonly posting: readonly LedgerLine[];
  /** What it changes in the record of the latest refund; `from: null` adds a record. */
  readonly refund?: { readonly from: RefundStatus | null; readonly to: RefundStatus };
}

/** The fee includes its VAT. */
const CUSTOMER_PAID = [
  { side: 'debit', account: 'provider_receivable', amount: 'total' },
  { side: 'credit', account: 'merchant_pending', amount: 'net' },
  { side: 'credit', account: 'fee_revenue', amount: 'feeNet' },
  { side: 'credit', account: 'vat_payable', amount: 'vat' },
] as const satisfies readonly LedgerLine[];

/** The customer receives the total. The merchant still owes the fee: the available balance becomes −fee. */
const CUSTOMER_REFUNDED = [
  { side: 'debit', account: 'merchant_pending', amount: 'net' },
  { side: 'debit', account: 'merchant_available', amount: 'fee' },
  { side: 'credit', account: 'provider_receivable', amount: 'total' },
] as const satisfies readonly LedgerLine[];

/** An operator refunded the customer from our bank account. What the provider owes us does not change. */
const CUSTOMER_REFUNDED_MANUALLY = [
  { side: 'debit', account: 'merchant_pending', amount: 'net' },
  { side: 'debit', account: 'merchant_available', amount: 'fee' },
  { side: 'credit', account: 'cash', amount: 'total' },
] as const satisfies readonly LedgerLine[];

const FUNDS_SETTLED = [
  { side: 'debit', account: 'merchant_pending', amount: 'net' },
  { side: 'credit', account: 'merchant_available', amount: 'net' },
] as const satisfies readonly LedgerLine[];

const ADDED = { from: null, to: 'held' } as const;
const SUBMITTED = { from: 'held', to: 'submitted' } as const;
const CANCELLED = { from: 'held', to: 'cancelled' } as const;
const CONFIRMED = { from: 'submitted', to: 'confirmed' } as const;
const REJECTED = { from: 'submitted', to: 'rejected' } as const;
const CONFIRMED_AFTER_REJECTION = { from: 'rejected', to: 'confirmed' } as const;

/**
 * THE table: every transition of a payment and of its refund, with the lines that the ledger posts. Nothing else
 * changes a status. Entering a status is the event `payment.<status>`. `submit_refund` enters no status of the
 * payment: it rules out `cancel_refund`.
 */
export const PAYMENT_TRANSITIONS = {
  create: { from: null, to: 'created', posting: [] },
  issue: { from: 'created', to: 'pending', posting: [] },
  fail_creation: { from: 'created', to: 'failed', posting: [] },
  pay: { from: 'pending', to: 'paid', posting: CUSTOMER_PAID },
  expire: { from: 'pending', to: 'expired', posting: [] },
  cancel: { from: 'pending', to: 'cancelled', posting: [] },
  fail: { from: 'pending', to: 'failed', posting: [] },
  request_refund: { from: 'paid', to: 'refund_processing', posting: [], refund: ADDED },
  submit_refund: { from: 'refund_processing', to: 'refund_processing', posting: [], refund: SUBMITTED },
  cancel_refund: { from: 'refund_processing', to: 'paid', posting: [], refund: CANCELLED },
  confirm_refund: { from: 'refund_processing', to: 'refunded', posting: CUSTOMER_REFUNDED, refund: CONFIRMED },
  fail_refund: { from: 'refund_processing', to: 'refund_failed', posting: [], refund: REJECTED },
  retry_refund: { from: 'refund_failed', to: 'refund_processing', posting: [], refund: ADDED },
  confirm_failed_refund: {
    from: 'refund_failed',
    to: 'refunded',
    posting: CUSTOMER_REFUNDED,
    refund: CONFIRMED_AFTER_REJECTION,
  },
  resolve_refund_as_refunded: {
    from: 'refund_failed',
    to: 'refunded',
    posting: CUSTOMER_REFUNDED_MANUALLY,
    refund: CONFIRMED_AFTER_REJECTION,
  },
  resolve_refund_as_paid: { from: 'refund_failed', to: 'paid', posting: [] },
  settle: { from: 'paid', to: 'settled', posting: FUNDS_SETTLED },
} as const satisfies Record<string, TransitionRule>;

export type TransitionName = keyof typeof PAYMENT_TRANSITIONS;
/** A status that some transition leaves. */
export type OpenStatus = NonNullable<(typeof PAYMENT_TRANSITIONS)[TransitionName]['from']>;

const RULES: readonly TransitionRule[] = Object.values(PAYMENT_TRANSITIONS);

/** No transition leaves a final status: the workflow of the payment completes. */
export function isFinal(status: PaymentStatus): boolean {
  return !RULES.some((rule) => rule.from === status);
}

/** In the order of `PAYMENT_STATUSES`, as all lists of statuses that are derived from the table. */
export const FINAL_STATUSES: readonly PaymentStatus[] = PAYMENT_STATUSES.filter(isFinal);
export const OPEN_STATUSES: readonly PaymentStatus[] = PAYMENT_STATUSES.filter((status) => !isFinal(status));

/** The provider received the customer's money before the payment entered one of these statuses. */
export const PAID_STATUSES: readonly PaymentStatus[] = statusesFrom('paid');
/** The merchant has the money, pending or available: a refund takes it when it is confirmed. */
export const RECEIVED_STATUSES: readonly PaymentStatus[] = PAID_STATUSES.filter((status) => status !== 'refunded');
/** Money that arrives for such a payment is a late payment. */
export const UNPAID_FINAL_STATUSES: readonly PaymentStatus[] = FINAL_STATUSES.filter(
  (status) => !PAID_STATUSES.includes(status),
);

/** This status and all that the transitions lead to from there. */
function statusesFrom(start: PaymentStatus): readonly PaymentStatus[] {
  const reached = new Set([start]);
  for (const status of reached) for (const { from, to } of RULES) if (from === status) reached.add(to);
  return PAYMENT_STATUSES.filter((status) => reached.has(status));
}
