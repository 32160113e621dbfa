import type { FindPayoutOutcome, PayoutFailureKind } from './bank-payout';
import type { PayoutStatus } from './payout-transitions';

/** What the bank's response to the last call was; null: none is recorded, so the bank may have executed it. */
export type SendOutcome = 'accepted' | 'rejected' | 'indeterminate';

export interface PayoutFailure {
  readonly kind: PayoutFailureKind;
  /** In the bank's words, for operators. */
  readonly reason: string;
}

/** What PostgreSQL records of a payout, as far as the bank's report is compared with it. */
export interface ComparedPayout {
  readonly status: PayoutStatus;
  /** Operators resolved it by the bank's statement: the bank's status may differ for good. */
  readonly isManual: boolean;
  readonly amountRupiah: number;
  readonly accountLastFour: string;
  /** The number of permissions for a call to the bank. */
  readonly sendCount: number;
  readonly sendOutcome: SendOutcome | null;
  /** Why the bank rejected the last call; null if it did not. */
  readonly sendFailure: PayoutFailure | null;
  /** The time since the last permission for a call. */
  readonly sinceSentMs: number;
}

/** How long the bank and an operator are waited for, counted from the last permission for a call. */
export interface PayoutWaits {
  /** A status before it proves nothing: the bank may not have stored the payout. */
  readonly statusNotBeforeMs: number;
  /** For this time "not found" proves nothing. After it an operator decides. */
  readonly notFoundMs: number;
  /** An operator should look at a payout that takes longer. */
  readonly expectedWithinMs: number;
}

/** Why an operator should look at a payout that the bank may have. */
export type SubmittedAttention = 'not_found' | 'overdue';

type BankTransition = 'complete' | 'complete_failed' | 'return';

/** A transition that the bank's report causes. */
export type DecidedTransition =
  { readonly name: BankTransition } | { readonly name: 'fail'; readonly failure: PayoutFailure };

/**
 * `record`: the transitions, in this order, and the exception. `wait`: nothing has changed. `query_again`: the bank's
 * status is indeterminate.
 */
export type PayoutDecision =
  | {
      readonly decision: 'record';
      readonly transitions: readonly DecidedTransition[];
      readonly exception?: 'payout_conflict' | 'payout_amount';
    }
  | { readonly decision: 'wait'; readonly attention?: SubmittedAttention }
  | { readonly decision: 'query_again'; readonly reason: string };

const NOTHING: PayoutDecision = { decision: 'wait' };

/**
 * What the bank's report means for a payout. Only the bank's status decides, never a response or a notification. A
 * status that is indeterminate, or "not found" alone, never makes a payout failed. One without an account number, which
 * is optional in SNAP BI, proves nothing: an operator asks the bank where the money went, and resolves the payout.
 */
export function decidePayout(payout: ComparedPayout, report: FindPayoutOutcome, waits: PayoutWaits): PayoutDecision {
  switch (report.outcome) {
    case 'indeterminate':
      return { decision: 'query_again', reason: report.reason };
    case 'not_found':
      return payout.status === 'submitted' ? decideNotFound(payout, waits) : NOTHING;
    case 'found':
      break;
  }
  const { status, amountRupiah, accountLastFour, failureKind, reason } = report.payout;
  if (status === 'pending') return payout.status === 'submitted' ? waitFor(payout, waits) : NOTHING;
  const hasOurAccount = accountLastFour === null ? null : accountLastFour === payout.accountLastFour;
  if (amountRupiah !== payout.amountRupiah || hasOurAccount === false) return record([], 'payout_amount');
  const failure = { kind: failureKind ?? 'other', reason: reason ?? 'the bank gives no reason' } as const;
  if (status === 'completed' && payout.status === 'returned' && !payout.isManual) return record([], 'payout_conflict');
  // Operators completed it by the bank's statement, while the bank's status may have been what it is now.
  if (status === 'failed' && payout.status === 'completed' && payout.isManual) return record([], 'payout_conflict');
  const decision = DECISIONS[status](payout.status, failure);
  const isProof = hasOurAccount ?? (decision.decision !== 'record' || decision.transitions.length === 0);
  return isProof ? decision : record([], 'payout_amount');
}

/** By the status at the bank. The payout has its amount and its account. */
const DECISIONS: Readonly<
  Record<'completed' | 'failed' | 'returned', (status: PayoutStatus, failure: PayoutFailure) => PayoutDecision>
> = {
  completed(status) {
    if (status === 'submitted') return record([{ name: 'complete' }]);
    if (status === 'failed') return record([{ name: 'complete_failed' }], 'payout_conflict');
    return wasSubmitted(status) ? NOTHING : record([], 'payout_conflict');
  },
  failed(status, failure) {
    if (status === 'submitted') return record([{ name: 'fail', failure }]);
    // Midtrans reports a payout that came back as failed.
    return status === 'completed' ? record([{ name: 'return' }]) : NOTHING;
  },
  returned(status) {
    if (status === 'submitted') return record([{ name: 'complete' }, { name: 'return' }]);
    if (status === 'completed') return record([{ name: 'return' }]);
    return wasSubmitted(status) ? NOTHING : record([], 'payout_conflict');
  },
};

/** The bank has never received any other payout. */
function wasSubmitted(status: PayoutStatus): boolean {
  return status === 'submitted' || status === 'completed' || status === 'failed' || status === 'returned';
}

/** Only a call that the bank rejected, and none before it, proves that it executed nothing. */
function decideNotFound(payout: ComparedPayout, waits: PayoutWaits): PayoutDecision {
  const { sendCount, sendOutcome, sendFailure, sinceSentMs } = payout;
  const isRejected = sendCount === 1 && sendOutcome === 'rejected' && sendFailure !== null;
  if (isRejected && sinceSentMs >= waits.statusNotBeforeMs) return record([{ name: 'fail', failure: sendFailure }]);
  return sinceSentMs >= waits.notFoundMs ? { decision: 'wait', attention: 'not_found' } : waitFor(payout, waits);
}

function waitFor({ sinceSentMs }: ComparedPayout, { expectedWithinMs }: PayoutWaits): PayoutDecision {
  return sinceSentMs >= expectedWithinMs ? { decision: 'wait', attention: 'overdue' } : NOTHING;
}

function record(
  transitions: readonly DecidedTransition[],
  exception?: 'payout_conflict' | 'payout_amount',
): PayoutDecision {
  return { decision: 'record', transitions, ...(exception && { exception }) };
}
