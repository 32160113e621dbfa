import { OPEN_LATE_PAYMENT_STATUSES, type LatePaymentStatus } from './late-payment';
import type { PaymentState } from './payment';
import { isFinal, UNPAID_FINAL_STATUSES, type PaymentStatus } from './payment-transitions';
import type { ProviderPaymentStatus } from './provider-status';

/** What PostgreSQL says of a payment. */
export interface RecordedPayment {
  readonly state: PaymentState;
  readonly totalRupiah: number;
  readonly settlementKind: 'automatic' | 'manual';
  readonly providerTransactionId: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly updatedAtMs: number;
  /** Money that came after its end. */
  readonly late: LatePaymentStatus | null;
  /** When the latest refund went to the provider; null if none did. */
  readonly refundSubmittedAtMs: number | null;
  /** The customer has the money back by another way than the provider's refund, which the provider does not know of. */
  readonly isManuallyRefunded: boolean;
}

/** What the provider says of it; null where it knows no such order. */
export interface ProviderRecord {
  readonly status: ProviderPaymentStatus;
  readonly totalRupiah: number;
  readonly providerTransactionId: string;
  readonly refunds: readonly { readonly totalRupiah: number; readonly confirmedAt: Date | null }[];
}

/** What Temporal says of its workflow; null where it knows none. */
export interface WorkflowRecord {
  readonly isRunning: boolean;
  readonly status: string | null;
}

/**
 * `mismatch`: two of the three differ · `missing`: one of them does not know it · `duplicate`: money moved more than once ·
 * `conflicting`: the provider contradicts what we count as final · `overdue`: a timer should have fired.
 */
export type BreakKind = 'mismatch' | 'missing' | 'duplicate' | 'conflicting' | 'overdue';

export interface Break {
  readonly kind: BreakKind;
  /** In words, for an operator. */
  readonly detail: string;
  /** The provider's own word settles it: have the workflow ask. */
  readonly isResolvedByStatusQuery: boolean;
}

/** A break, and of which payment. */
export interface FoundBreak extends Break {
  readonly paymentId: string;
  /** The workflow id if PostgreSQL has no such payment. */
  readonly referenceId: string;
}

/** What is read for a provider account, and what is read without a status query to any. */
export const ACCOUNT_WALKS = ['open', 'final'] as const;
export const RECORD_WALKS = ['late', 'deliveries', 'workflows'] as const;

/** Where a part of a run stands: in which of its walks, and after which cursor. */
export interface ReconciliationPosition {
  readonly walk: (typeof ACCOUNT_WALKS)[number] | (typeof RECORD_WALKS)[number];
  readonly after: string | null;
}

/** One part of a run. The parts do not wait for each other: a provider account that hangs holds up no other. */
export interface ReconciliationPart {
  /** Null for the part that needs no status query: late payments, webhook deliveries, workflows. */
  readonly accountId: string | null;
  /** How far back payments that are final are compared. */
  readonly changedSinceMs: number;
  readonly position: ReconciliationPosition;
}

/** What was done of a part, and where it goes on; null at its end. */
export interface ReconciliationSlice {
  readonly next: ReconciliationPosition | null;
  readonly coverage: Coverage;
  readonly breaks: readonly FoundBreak[];
}

/** The parts of a run, at their start: one for each provider account, and one that needs no provider. */
export function planReconciliation(accountIds: readonly string[], changedSinceMs: number): ReconciliationPart[] {
  return [
    ...accountIds.map((accountId): ReconciliationPart => ({ accountId, changedSinceMs, position: startOf('open') })),
    { accountId: null, changedSinceMs, position: startOf('late') },
  ];
}

/** Open payments first, since nothing about them is final. */
export function walkAfter(walk: ReconciliationPosition['walk']): ReconciliationPosition | null {
  for (const walks of [ACCOUNT_WALKS, RECORD_WALKS]) {
    const index = walks.findIndex((name) => name === walk);
    const next = index < 0 ? undefined : walks[index + 1];
    if (next) return startOf(next);
  }
  return null;
}

function startOf(walk: ReconciliationPosition['walk']): ReconciliationPosition {
  return { walk, after: null };
}

/** What a part of reconciliation has covered. */
export interface Coverage {
  /** Payments, deliveries or workflows that it read. */
  readonly seen: number;
  /** Of these, how many could be compared in full. */
  readonly compared: number;
  /** Of these, for how many the provider or Temporal gave no determinate result. */
  readonly indeterminate: number;
  readonly breaks: number;
}

export const NOTHING_COVERED: Coverage = { seen: 0, compared: 0, indeterminate: 0, breaks: 0 };

export function addCoverage(sum: Coverage, more: Coverage): Coverage {
  return {
    seen: sum.seen + more.seen,
    compared: sum.compared + more.compared,
    indeterminate: sum.indeterminate + more.indeterminate,
    breaks: sum.breaks + more.breaks,
  };
}

/** What a part of a run has covered. */
export interface PartCoverage extends Coverage {
  /** Null: late payments, webhook deliveries and workflows, which need no status query. */
  readonly accountId: string | null;
}

/** Of a whole run: payments are counted once, breaks and indeterminate results wherever they were found. */
export function totalCoverage(parts: readonly PartCoverage[]): Coverage {
  const { seen, compared } = parts.filter(({ accountId }) => accountId !== null).reduce(addCoverage, NOTHING_COVERED);
  const { indeterminate, breaks } = parts.reduce(addCoverage, NOTHING_COVERED);
  return { seen, compared, indeterminate, breaks };
}

/** One line for operators. */
export function describeCoverage({ seen, compared, indeterminate, breaks }: Coverage): string {
  return `${compared} of ${seen} compared, ${breaks} breaks, ${indeterminate} indeterminate`;
}

/** What the provider may say while a payment is at a status, for all to be well. */
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

/** How late a timer, a signal or a record may be before it counts. */
export const GRACE_MS = 60_000;

/** A healthy provider confirms a refund within seconds; after this long an operator should know. */
export const REFUND_GRACE_MS = 10 * 60_000;

/**
 * Everything that is wrong with one payment; nothing where all three agree. An indeterminate record hides nothing else. Pure: the
 * caller looks twice before it believes.
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

/** The refund of a late payment that should be final by now: its workflow is stuck or lost, or the provider is slow. */
export function findOverdueLatePayment(status: LatePaymentStatus, sinceMs: number, nowMs: number): Break[] {
  const isUnfinished = OPEN_LATE_PAYMENT_STATUSES.some((open) => open === status);
  return isUnfinished ? overdue(sinceMs, REFUND_GRACE_MS, nowMs, `its late payment is "${status}"`, true) : [];
}

/** Retries of a webhook that no workflow makes. */
export function findLostRetries(): Break {
  const detail = 'a webhook delivery has no running retry workflow: run `lunas recover`';
  return { kind: 'missing', detail, isResolvedByStatusQuery: false };
}

/** A workflow whose payment PostgreSQL does not have. */
export function findOrphanedWorkflow(): Break {
  return { kind: 'missing', detail: 'its workflow has no payment in PostgreSQL', isResolvedByStatusQuery: false };
}

/** A workflow that still runs although its payment is final. */
export function findUnendedWorkflow(status: PaymentStatus): Break {
  return { kind: 'mismatch', detail: `"${status}" here, and its workflow goes on`, isResolvedByStatusQuery: true };
}

function compareWithProvider(recorded: RecordedPayment, provider: ProviderRecord | null): Break[] {
  const { status } = recorded.state;
  const reportedStatus: ProviderPaymentStatus | null = provider?.status ?? null;
  if (provider === null) {
    if (status === 'created' || status === 'failed') return [];
    return [
      {
        kind: 'missing',
        detail: `the provider does not know the order, which is "${status}"`,
        isResolvedByStatusQuery: false,
      },
    ];
  }
  const breaks: Break[] = [];
  if (provider.totalRupiah !== recorded.totalRupiah) {
    const detail = `the provider has Rp${provider.totalRupiah}, we have Rp${recorded.totalRupiah}`;
    breaks.push({ kind: 'mismatch', detail, isResolvedByStatusQuery: false });
  }
  const ours = recorded.providerTransactionId;
  if (ours !== null && provider.providerTransactionId !== ours) {
    const detail = `the provider has transaction ${provider.providerTransactionId}, we have ${ours}`;
    breaks.push({ kind: 'duplicate', detail, isResolvedByStatusQuery: false });
  }
  const refundedRupiah = provider.refunds.reduce((sum, refund) => sum + refund.totalRupiah, 0);
  if (refundedRupiah > provider.totalRupiah) {
    const detail = `the provider refunded Rp${refundedRupiah} of Rp${provider.totalRupiah}`;
    breaks.push({ kind: 'duplicate', detail, isResolvedByStatusQuery: false });
  }
  const isManual = status === 'refunded' && recorded.isManuallyRefunded;
  const expected: readonly (string | null)[] = isManual ? ['paid'] : EXPECTED_PROVIDER_STATUSES[status];
  if (!expected.includes(reportedStatus) && !isExplainedByLatePayment(recorded, provider)) {
    const isRecordable = isResolvable(status, provider.status);
    const kind = isFinal(status) && !isRecordable ? 'conflicting' : 'mismatch';
    const detail = `"${status}" here, "${provider.status}" at the provider`;
    breaks.push({ kind, detail, isResolvedByStatusQuery: isRecordable });
  } else if (
    provider.status === 'paid' &&
    refundedRupiah > 0 &&
    status !== 'refund_processing' &&
    recorded.late === null
  ) {
    const detail = `"${status}" here, and the provider has refunded Rp${refundedRupiah}`;
    breaks.push({ kind: 'conflicting', detail, isResolvedByStatusQuery: !isFinal(status) });
  }
  return breaks;
}

/** Money after the end that is in suspense, or given back. */
function isExplainedByLatePayment({ late, isManuallyRefunded }: RecordedPayment, { status }: ProviderRecord): boolean {
  if (late === null) return false;
  return status === 'paid' ? late !== 'refunded' || isManuallyRefunded : status === 'refunded';
}

/** The workflow can ask, and record what it hears: a payment that is open, or money after the end of one that was not paid. */
function isResolvable(status: PaymentStatus, reportedStatus: ProviderPaymentStatus): boolean {
  if (!isFinal(status)) return status !== 'created' && reportedStatus !== 'pending';
  return UNPAID_FINAL_STATUSES.includes(status) && (reportedStatus === 'paid' || reportedStatus === 'refunded');
}

function compareWithWorkflow(recorded: RecordedPayment, workflow: WorkflowRecord | null, nowMs: number): Break[] {
  const { status } = recorded.state;
  if (isFinal(status)) {
    // Histories are kept for a while only: a life that is over needs no workflow.
    if (!workflow?.isRunning || nowMs - recorded.updatedAtMs < GRACE_MS) return [];
    return [findUnendedWorkflow(status)];
  }
  if (workflow === null || !workflow.isRunning) {
    const detail = `it is "${status}" and has no running workflow: run \`lunas recover\``;
    return [{ kind: 'missing', detail, isResolvedByStatusQuery: false }];
  }
  if (workflow.status === null || workflow.status === status) return [];
  const detail = `"${status}" here, "${workflow.status}" in its workflow`;
  // The workflow reads PostgreSQL when it is signalled, and catches up.
  return [{ kind: 'mismatch', detail, isResolvedByStatusQuery: true }];
}

function findOverdue(recorded: RecordedPayment, nowMs: number): Break[] {
  const { state, settlementKind, createdAtMs, expiresAtMs, refundSubmittedAtMs } = recorded;
  const late = (dueMs: number | undefined, what: string) => overdue(dueMs, GRACE_MS, nowMs, what, false);
  switch (state.status) {
    case 'created':
      return late(createdAtMs + MAX_CREATION_MS, 'it should have a QR, or have failed,');
    case 'pending':
      return late(expiresAtMs, 'it should have expired');
    case 'paid':
      return settlementKind === 'automatic' ? late(state.settlesAtMs, 'it should have settled') : [];
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
  return [{ kind: 'overdue', detail: `${what} since ${new Date(dueMs).toISOString()}`, isResolvedByStatusQuery }];
}

/** Two minutes of tries, and the look-up after them. */
const MAX_CREATION_MS = 3 * 60_000;
