import type { ExceptionCause } from './exception-kinds';
import { OPEN_LATE_PAYMENT_STATUSES, type LatePaymentStatus } from './late-payment';
import { formatRupiah } from './money';
import { OPERATOR_STEPS } from './operator-steps';
import type { PaymentState, PaymentTerms } from './payment';
import { isFinal, UNPAID_FINAL_STATUSES, type PaymentStatus } from './payment-transitions';
import { isResting, type PayoutStatus } from './payout-transitions';
import type { ProviderPaymentStatus } from './provider-status';

/** What PostgreSQL has of a payment. */
export interface RecordedPayment extends Pick<PaymentTerms, 'totalRupiah' | 'settlementKind'> {
  readonly state: PaymentState;
  readonly providerTransactionId: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly updatedAtMs: number;
  /** The status of its late payment; null if there is none. */
  readonly late: LatePaymentStatus | null;
  /** When the latest refund was submitted to the provider; null if none was. */
  readonly refundSubmittedAtMs: number | null;
  /** An operator refunded the customer outside the provider, which does not know of it. */
  readonly isManuallyRefunded: boolean;
  /** The payments of its merchant do not settle. */
  readonly isMerchantOnHold: boolean;
}

/** The provider's record of the order. Where it is null, the provider has no such order. */
export interface ProviderRecord {
  readonly status: ProviderPaymentStatus;
  readonly totalRupiah: number;
  readonly providerTransactionId: string;
  readonly refunds: readonly { readonly totalRupiah: number; readonly confirmedAt: Date | null }[];
}

/** Temporal's record of the workflow. Where it is null, Temporal has no such workflow. */
export interface WorkflowRecord {
  readonly isRunning: boolean;
  readonly status: string | null;
}

/**
 * `mismatch`: two of the three differ · `missing`: one of the three has no record · `duplicate`: money moved more
 * than once · `conflicting`: the provider contradicts a final status · `overdue`: a timer should have fired.
 */
export type BreakKind = 'mismatch' | 'missing' | 'duplicate' | 'conflicting' | 'overdue';

export interface Break {
  readonly kind: BreakKind;
  /** In words, for an operator. */
  readonly detail: string;
  /** The workflow resolves it by a status query. */
  readonly isResolvedByStatusQuery: boolean;
  /** If a command repairs it. */
  readonly cause?: ExceptionCause;
  /** When the timer of an `overdue` break should have fired. */
  readonly dueAtMs?: number;
}

/** A break with its payment or payout. */
export interface FoundBreak extends Break {
  /** The id of the payout, if it is the break of one. */
  readonly paymentId: string;
  /** The workflow id if PostgreSQL has no such payment or payout. */
  readonly referenceId: string;
}

/** The scans over one provider account, and those that need no provider, each with the next one. */
const NEXT_SCAN = {
  open: 'final',
  final: null,
  late: 'deliveries',
  deliveries: 'workflows',
  workflows: 'open_payouts',
  open_payouts: 'resting_payouts',
  resting_payouts: 'payout_workflows',
  payout_workflows: null,
} as const;

/** The progress of a part: its current scan, and the cursor in it. */
export interface ReconciliationPosition {
  readonly scan: keyof typeof NEXT_SCAN;
  readonly after: string | null;
}

/** What a run compares, the same in each of its parts. */
export interface ReconciliationTimes {
  /** Final payments are compared if they changed since then. */
  readonly changedSinceMs: number;
  /** The start of the last complete run. */
  readonly lastStartMs: number;
  readonly startedAtMs: number;
}

/** One part of a run. Parts are independent: a provider account that does not respond delays no other. */
export interface ReconciliationPart extends ReconciliationTimes {
  /** Null for the part that needs no provider: late payments, webhook deliveries, workflows, payouts. */
  readonly accountId: string | null;
  readonly position: ReconciliationPosition;
}

/** The result of one batch of a part. `next` is null at the end of the part. */
export interface ReconciliationBatch {
  readonly next: ReconciliationPosition | null;
  readonly coverage: Coverage;
  readonly breaks: readonly FoundBreak[];
}

/** What the exception of a break has of it. */
export function causeOf({ kind, detail, cause }: Break): {
  readonly detail: string;
  readonly cause: ExceptionCause | null;
} {
  return { detail: `${kind}: ${detail}`, cause: cause ?? null };
}

/** The parts of a run: one for each provider account, and one that needs no provider. */
export function planReconciliation(accountIds: readonly string[], times: ReconciliationTimes): ReconciliationPart[] {
  return [
    ...accountIds.map((accountId): ReconciliationPart => ({ ...times, accountId, position: startOf('open') })),
    { ...times, accountId: null, position: startOf('late') },
  ];
}

/** The position after the end of a scan; null after the last scan. Open payments come first. */
export function scanAfter(scan: ReconciliationPosition['scan']): ReconciliationPosition | null {
  const next = NEXT_SCAN[scan];
  return next && startOf(next);
}

function startOf(scan: ReconciliationPosition['scan']): ReconciliationPosition {
  return { scan, after: null };
}

/** How much reconciliation has covered. */
export interface Coverage {
  /** Payments, deliveries or workflows that were read. */
  readonly seen: number;
  /** How many of them were compared in full. */
  readonly compared: number;
  /** For how many of them the provider or Temporal returned no determinate result. */
  readonly indeterminate: number;
  /** How many of them were not queried, because the account is down. Such a run is not complete. */
  readonly unasked: number;
  readonly breaks: number;
}

export const NOTHING_COVERED: Coverage = { seen: 0, compared: 0, indeterminate: 0, unasked: 0, breaks: 0 };

export function addCoverage(sum: Coverage, more: Coverage): Coverage {
  return {
    seen: sum.seen + more.seen,
    compared: sum.compared + more.compared,
    indeterminate: sum.indeterminate + more.indeterminate,
    unasked: sum.unasked + more.unasked,
    breaks: sum.breaks + more.breaks,
  };
}

/** The coverage of one part. */
export interface PartCoverage extends Coverage {
  /** Null: late payments, webhook deliveries, workflows and payouts, which need no provider. */
  readonly accountId: string | null;
}

/** The coverage of a run: payments are counted once, breaks and indeterminate results in every part. */
export function totalCoverage(parts: readonly PartCoverage[]): Coverage {
  const { seen, compared } = parts.filter(({ accountId }) => accountId !== null).reduce(addCoverage, NOTHING_COVERED);
  const { indeterminate, unasked, breaks } = parts.reduce(addCoverage, NOTHING_COVERED);
  return { seen, compared, indeterminate, unasked, breaks };
}

/** One line for operators. */
export function describeCoverage({ seen, compared, indeterminate, unasked, breaks }: Coverage): string {
  const skipped = unasked > 0 ? `, ${unasked} not asked because the provider account is down` : '';
  const found = breaks === 1 ? '1 break' : `${breaks} breaks`;
  return `${compared} of ${seen} compared, ${found}, ${indeterminate} indeterminate${skipped}`;
}

/** The provider statuses that are no break, by the status of the payment. */
const EXPECTED_PROVIDER_STATUSES = {
  created: ['pending', null],
  pending: ['pending'],
  paid: ['paid'],
  expired: ['expired', 'cancelled', 'denied'],
  settled: ['paid'],
  failed: ['denied', 'expired', 'cancelled', null],
  cancelled: ['cancelled', 'expired'],
  refund_processing: ['paid'],
  refund_failed: ['paid'],
  refunded: ['refunded'],
} as const satisfies Record<PaymentStatus, readonly (ProviderPaymentStatus | null)[]>;

/** A timer, signal or record is a break only if it is later than this. */
export const GRACE_MS = 60_000;

/** An overdue payment becomes an exception if it is still overdue in the next hourly run. */
const OVERDUE_EXCEPTION_AFTER_MS = 65 * 60_000;

/**
 * Whether an operator has to look at a break that no status query resolves. What is overdue may only wait for a
 * provider or a worker that is away.
 */
export function needsException({ kind, dueAtMs }: Break, isProviderDeterminate: boolean, nowMs: number): boolean {
  if (kind !== 'overdue' || dueAtMs === undefined) return true;
  return isProviderDeterminate && nowMs > dueAtMs + OVERDUE_EXCEPTION_AFTER_MS;
}

/** A healthy provider confirms a refund in seconds. After this delay an operator should be informed. */
export const REFUND_GRACE_MS = 10 * 60_000;

/**
 * All breaks of one payment; none if all three agree. An indeterminate record hides no other break. The records are
 * read one after the other, so the caller reads them again before it reports a break.
 */
export function findBreaks(
  recorded: RecordedPayment,
  provider: ProviderRecord | 'indeterminate' | null,
  workflow: WorkflowRecord | 'indeterminate' | null,
  nowMs: number,
): Break[] {
  return [
    ...(provider === 'indeterminate' ? [] : compareWithProvider(recorded, provider)),
    ...(workflow === 'indeterminate' ? [] : compareWithWorkflow(recorded, workflow, nowMs)),
    ...findOverdue(recorded, nowMs),
  ];
}

/** A late payment that should be final: its workflow is stuck or lost, or the provider is slow. */
export function findOverdueLatePayment(status: LatePaymentStatus, sinceMs: number, nowMs: number): Break[] {
  const isUnfinished = OPEN_LATE_PAYMENT_STATUSES.some((open) => open === status);
  return isUnfinished ? overdue(sinceMs, REFUND_GRACE_MS, nowMs, `its late payment is "${status}"`, true) : [];
}

/** A webhook delivery that should have a retry workflow, and has none. */
export const LOST_RETRIES = lost(`a webhook delivery has no running retry workflow: ${OPERATOR_STEPS.recover}`);

/** A workflow whose payment PostgreSQL does not have. */
export const ORPHANED_WORKFLOW = lost('its workflow has no payment in PostgreSQL');

/** A workflow that still runs although its payment is final. */
export function findUnendedWorkflow(status: PaymentStatus): Break {
  return breakOf('mismatch', `"${status}" here, and its workflow goes on`, true);
}

/** What PostgreSQL has of a payout, as far as it is compared with its workflow. */
export interface RecordedPayoutStatus {
  readonly status: PayoutStatus;
  readonly updatedAt: Date;
}

/** A workflow whose payout PostgreSQL does not have. */
export const ORPHANED_PAYOUT = lost('its workflow has no payout in PostgreSQL: a recovery writes it again');

/** The breaks between a payout and its workflow. The signal that asks for the bank's status resolves each. */
export function findPayoutBreaks(
  { status, updatedAt }: RecordedPayoutStatus,
  workflow: WorkflowRecord | null,
  nowMs: number,
): Break[] {
  // It changed a moment ago: the workflow follows.
  if (nowMs - updatedAt.getTime() < GRACE_MS) return [];
  if (isResting(status)) {
    return workflow?.isRunning ? [breakOf('mismatch', `"${status}" here, and its workflow goes on`, true)] : [];
  }
  if (!workflow?.isRunning) return [breakOf('missing', `it is "${status}" and has no running workflow`, true)];
  if (workflow.status === status) return [];
  return [breakOf('mismatch', `"${status}" here, "${workflow.status ?? 'none'}" in its workflow`, true)];
}

function compareWithProvider(recorded: RecordedPayment, provider: ProviderRecord | null): Break[] {
  const { status } = recorded.state;
  if (provider === null) {
    if (status === 'created' || status === 'failed') return [];
    return [breakOf('missing', `the provider does not know the order, which is "${status}"`)];
  }
  const breaks: Break[] = [];
  if (provider.totalRupiah !== recorded.totalRupiah) {
    breaks.push(
      breakOf(
        'mismatch',
        `the provider has ${formatRupiah(provider.totalRupiah)}, we have ${formatRupiah(recorded.totalRupiah)}`,
      ),
    );
  }
  const ours = recorded.providerTransactionId;
  if (ours !== null && provider.providerTransactionId !== ours) {
    breaks.push(
      breakOf('duplicate', `the provider has transaction ${provider.providerTransactionId}, we have ${ours}`),
    );
  }
  const refundedRupiah = provider.refunds.reduce((sum, refund) => sum + refund.totalRupiah, 0);
  if (refundedRupiah > provider.totalRupiah) {
    breaks.push(
      breakOf(
        'duplicate',
        `the provider refunded ${formatRupiah(refundedRupiah)} of ${formatRupiah(provider.totalRupiah)}`,
      ),
    );
  }
  const isManual = status === 'refunded' && recorded.isManuallyRefunded;
  const expected: readonly (string | null)[] = isManual ? ['paid'] : EXPECTED_PROVIDER_STATUSES[status];
  if (!expected.includes(provider.status) && !isExplainedByLatePayment(recorded, provider)) {
    const isRecordable = isResolvable(status, provider.status);
    const kind = isFinal(status) && !isRecordable ? 'conflicting' : 'mismatch';
    breaks.push(breakOf(kind, `"${status}" here, "${provider.status}" at the provider`, isRecordable));
  } else if (
    provider.status === 'paid' &&
    refundedRupiah > 0 &&
    status !== 'refund_processing' &&
    recorded.late === null
  ) {
    const detail = `"${status}" here, and the provider has refunded ${formatRupiah(refundedRupiah)}`;
    breaks.push(breakOf('conflicting', detail, !isFinal(status)));
  }
  return breaks;
}

/** The provider's status is that of a late payment, in suspense or refunded by the provider. */
function isExplainedByLatePayment({ late, isManuallyRefunded }: RecordedPayment, { status }: ProviderRecord): boolean {
  if (late === null) return false;
  if (status === 'refunded') return !isManuallyRefunded;
  return status === 'paid' && (late !== 'refunded' || isManuallyRefunded);
}

/** Whether a status query resolves it: the payment is open, or it is unpaid and the money is a late payment. */
function isResolvable(status: PaymentStatus, reportedStatus: ProviderPaymentStatus): boolean {
  if (!isFinal(status)) return status !== 'created' && reportedStatus !== 'pending';
  return UNPAID_FINAL_STATUSES.includes(status) && (reportedStatus === 'paid' || reportedStatus === 'refunded');
}

function compareWithWorkflow(recorded: RecordedPayment, workflow: WorkflowRecord | null, nowMs: number): Break[] {
  const { status } = recorded.state;
  if (isFinal(status)) {
    // Temporal deletes a history after its retention period: a final payment needs no workflow.
    if (!workflow?.isRunning || nowMs - recorded.updatedAtMs < GRACE_MS) return [];
    return [findUnendedWorkflow(status)];
  }
  if (workflow === null || !workflow.isRunning) {
    const remedy = `its next event or ${OPERATOR_STEPS.recover}`;
    return [lost(`it is "${status}" and has no running workflow: ${remedy}`)];
  }
  if (workflow.status === null || workflow.status === status) return [];
  // A signalled workflow reads PostgreSQL and continues from there.
  return [breakOf('mismatch', `"${status}" here, "${workflow.status}" in its workflow`, true)];
}

function findOverdue(recorded: RecordedPayment, nowMs: number): Break[] {
  const { state, settlementKind, isMerchantOnHold, createdAtMs, expiresAtMs, refundSubmittedAtMs } = recorded;
  const late = (dueMs: number | undefined, what: string) => overdue(dueMs, GRACE_MS, nowMs, what, false);
  switch (state.status) {
    case 'created':
      return late(createdAtMs + MAX_CREATION_MS, 'it should have a QR, or have failed,');
    case 'pending':
      return late(expiresAtMs, 'it should have expired');
    case 'paid':
      return settlementKind === 'automatic' && !isMerchantOnHold
        ? late(state.settlesAtMs, 'it should have settled')
        : [];
    case 'refund_processing':
      if (state.refund?.status === 'held') return late(state.refund.submitAtMs, 'its refund should have gone out');
      return overdue(refundSubmittedAtMs ?? undefined, REFUND_GRACE_MS, nowMs, 'its refund is submitted', true);
    default:
      return [];
  }
}

function overdue(
  dueMs: number | undefined,
  graceMs: number,
  nowMs: number,
  what: string,
  isResolvedByStatusQuery: boolean,
): Break[] {
  if (dueMs === undefined || nowMs <= dueMs + graceMs) return [];
  const detail = `${what} since ${new Date(dueMs).toISOString()}`;
  return [{ ...breakOf('overdue', detail, isResolvedByStatusQuery), cause: 'overdue', dueAtMs: dueMs }];
}

/** What a recovery restores. */
function lost(detail: string): Break {
  return { ...breakOf('missing', detail), cause: 'lost' };
}

function breakOf(kind: BreakKind, detail: string, isResolvedByStatusQuery = false): Break {
  return { kind, detail, isResolvedByStatusQuery };
}

/** Two minutes of attempts, and the status query after them. */
const MAX_CREATION_MS = 3 * 60_000;
