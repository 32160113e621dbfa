import type { LedgerLine } from './ledger';

export const PAYOUT_STATUSES = [
  /** The lines are claimed and the amount is reserved. The payout waits for its approval. */
  'requested',
  /** Waits until it may be sent to the bank. */
  'approved',
  /** The bank may have it. */
  'submitted',
  /** The bank has executed it. */
  'completed',
  /** The bank has not executed it: the money is available again. */
  'failed',
  'cancelled',
  /** The bank has executed it, and the money has come back. */
  'returned',
] as const;
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];

/** The columns of a payout that a posting books: the gross amount is the amount that is sent, and the fee. */
export type PayoutAmount = 'gross' | 'amount' | 'fee';

/** Whom a transition is permitted: a member of the merchant, the daily run, an operator of Lunas, the workflow. */
type TransitionActor = 'user' | 'schedule' | 'operator' | 'workflow';

export interface PayoutTransitionRule {
  /** Null: the payout is created. */
  readonly from: PayoutStatus | null;
  readonly to: PayoutStatus;
  readonly posting: readonly LedgerLine<PayoutAmount>[];
  readonly by: readonly TransitionActor[];
}

type PayoutLines = readonly LedgerLine<PayoutAmount>[];

const RESERVED = [
  { side: 'debit', account: 'merchant_available', amount: 'gross' },
  { side: 'credit', account: 'payout_in_transit', amount: 'amount' },
  { side: 'credit', account: 'fee_revenue', amount: 'fee' },
] as const satisfies PayoutLines;

/** The bank has moved nothing, so the merchant has the fee back too. */
const RELEASED = [
  { side: 'debit', account: 'payout_in_transit', amount: 'amount' },
  { side: 'debit', account: 'fee_revenue', amount: 'fee' },
  { side: 'credit', account: 'merchant_available', amount: 'gross' },
] as const satisfies PayoutLines;

const EXECUTED = [
  { side: 'debit', account: 'payout_in_transit', amount: 'amount' },
  { side: 'credit', account: 'cash', amount: 'amount' },
] as const satisfies PayoutLines;

/** The fee stays: the bank has kept its own. */
const CAME_BACK = [
  { side: 'debit', account: 'cash', amount: 'amount' },
  { side: 'credit', account: 'merchant_available', amount: 'amount' },
] as const satisfies PayoutLines;

/** The merchant had the money back, and has it twice now. The available balance may be below zero. */
const EXECUTED_AFTER_FAILURE = [
  { side: 'debit', account: 'merchant_available', amount: 'gross' },
  { side: 'credit', account: 'cash', amount: 'amount' },
  { side: 'credit', account: 'fee_revenue', amount: 'fee' },
] as const satisfies PayoutLines;

/**
 * THE table: every transition of a payout, with the lines that the ledger posts. Nothing else changes a status.
 * Entering a status is the event `payout.<status>`. `submit` permits one call to the bank, and so does `resend`, with
 * the same reference. What an operator resolves needs a second one in production.
 */
export const PAYOUT_TRANSITIONS = {
  request: { from: null, to: 'requested', posting: RESERVED, by: ['user', 'schedule', 'operator'] },
  approve: { from: 'requested', to: 'approved', posting: [], by: ['user', 'operator', 'workflow'] },
  cancel_request: { from: 'requested', to: 'cancelled', posting: RELEASED, by: ['user', 'operator', 'workflow'] },
  cancel: { from: 'approved', to: 'cancelled', posting: RELEASED, by: ['user', 'operator', 'workflow'] },
  submit: { from: 'approved', to: 'submitted', posting: [], by: ['workflow'] },
  resend: { from: 'submitted', to: 'submitted', posting: [], by: ['operator', 'workflow'] },
  complete: { from: 'submitted', to: 'completed', posting: EXECUTED, by: ['workflow'] },
  fail: { from: 'submitted', to: 'failed', posting: RELEASED, by: ['workflow'] },
  resolve_as_completed: { from: 'submitted', to: 'completed', posting: EXECUTED, by: ['operator'] },
  resolve_as_failed: { from: 'submitted', to: 'failed', posting: RELEASED, by: ['operator'] },
  return: { from: 'completed', to: 'returned', posting: CAME_BACK, by: ['workflow'] },
  resolve_as_returned: { from: 'completed', to: 'returned', posting: CAME_BACK, by: ['operator'] },
  complete_failed: { from: 'failed', to: 'completed', posting: EXECUTED_AFTER_FAILURE, by: ['workflow'] },
  resolve_failed_as_completed: {
    from: 'failed',
    to: 'completed',
    posting: EXECUTED_AFTER_FAILURE,
    by: ['operator'],
  },
} as const satisfies Readonly<Record<string, PayoutTransitionRule>>;

export type PayoutTransitionName = keyof typeof PAYOUT_TRANSITIONS;

/** The workflow ends there. Only what the bank reports or an operator resolves afterwards leaves one of them. */
export const RESTING_PAYOUT_STATUSES = ['completed', 'failed', 'cancelled', 'returned'] as const;
export type RestingPayoutStatus = (typeof RESTING_PAYOUT_STATUSES)[number];

export function isResting(status: PayoutStatus): status is RestingPayoutStatus {
  return RESTING_PAYOUT_STATUSES.some((resting) => resting === status);
}

/** The statuses of payouts whose amounts are in `payout_in_transit`. */
export const OPEN_PAYOUT_STATUSES: readonly PayoutStatus[] = PAYOUT_STATUSES.filter((status) => !isResting(status));
