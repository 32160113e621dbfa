import type { LatePaymentStatus } from './late-payment';
import type { PaymentState } from './payment';
import { isFinal, type PaymentStatus } from './payment-transitions';
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
  /** The customer has the money back by another way than the provider's refund, which the provider does not know of. */
  readonly isRefundedByHand: boolean;
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
  readonly replayable: boolean;
}

/** A break, and of which payment. */
export interface FoundBreak extends Break {
  readonly paymentId: string;
  /** Null where our books have no such payment. */
  readonly referenceId: string | null;
}

export interface Reconciliation {
  readonly compared: number;
  /** Of which the provider, or Temporal, did not answer: look again. */
  readonly unclear: number;
  readonly breaks: readonly FoundBreak[];
}

/** What the provider may say while a payment is at a status, for all to be well. */
const PROVIDER_SAYS = {
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

/** Everything that is wrong with one payment; nothing where all three agree. Pure: the caller looks twice before it believes. */
export function findBreaks(
  recorded: RecordedPayment,
  provider: ProviderRecord | null,
  workflow: WorkflowRecord | null,
  nowMs: number,
): Break[] {
  return [
    ...compareWithProvider(recorded, provider),
    ...compareWithWorkflow(recorded, workflow, nowMs),
    ...findOverdue(recorded, nowMs),
  ];
}

function compareWithProvider(recorded: RecordedPayment, provider: ProviderRecord | null): Break[] {
  const { status } = recorded.state;
  const says: ProviderPaymentStatus | null = provider?.status ?? null;
  if (provider === null) {
    if (status === 'created' || status === 'failed') return [];
    return [
      { kind: 'missing', detail: `the provider does not know the order, which is "${status}"`, replayable: false },
    ];
  }
  const breaks: Break[] = [];
  if (provider.totalRupiah !== recorded.totalRupiah) {
    const detail = `the provider has Rp${provider.totalRupiah}, we have Rp${recorded.totalRupiah}`;
    breaks.push({ kind: 'mismatch', detail, replayable: false });
  }
  const ours = recorded.providerTransactionId;
  if (ours !== null && provider.providerTransactionId !== ours) {
    const detail = `the provider has transaction ${provider.providerTransactionId}, we have ${ours}`;
    breaks.push({ kind: 'duplicate', detail, replayable: false });
  }
  const refundedRupiah = provider.refunds.reduce((sum, refund) => sum + refund.totalRupiah, 0);
  if (refundedRupiah > provider.totalRupiah) {
    const detail = `the provider refunded Rp${refundedRupiah} of Rp${provider.totalRupiah}`;
    breaks.push({ kind: 'duplicate', detail, replayable: false });
  }
  const isByHand = status === 'refunded' && recorded.isRefundedByHand;
  const expected: readonly (string | null)[] = isByHand ? ['paid'] : PROVIDER_SAYS[status];
  if (!expected.includes(says) && !isLateMoney(recorded, provider)) {
    const isTruthToRecord = isReplayable(status, provider.status);
    const kind = isFinal(status) && !isTruthToRecord ? 'conflicting' : 'mismatch';
    const detail = `"${status}" here, "${provider.status}" at the provider`;
    breaks.push({ kind, detail, replayable: isTruthToRecord });
  } else if (
    provider.status === 'paid' &&
    refundedRupiah > 0 &&
    status !== 'refund_processing' &&
    recorded.late === null
  ) {
    const detail = `"${status}" here, and the provider has refunded Rp${refundedRupiah}`;
    breaks.push({ kind: 'conflicting', detail, replayable: !isFinal(status) });
  }
  return breaks;
}

/** Money after the end that is in suspense, or given back. */
function isLateMoney({ late, isRefundedByHand }: RecordedPayment, { status }: ProviderRecord): boolean {
  if (late === null) return false;
  return status === 'paid' ? late !== 'refunded' || isRefundedByHand : status === 'refunded';
}

/** The workflow can ask, and record what it hears: a payment that is open, or money after the end of one that was not paid. */
function isReplayable(status: PaymentStatus, says: ProviderPaymentStatus): boolean {
  if (!isFinal(status)) return status !== 'created' && says !== 'pending';
  const endedUnpaid = status === 'expired' || status === 'cancelled' || status === 'failed';
  return endedUnpaid && (says === 'paid' || says === 'refunded');
}

function compareWithWorkflow(recorded: RecordedPayment, workflow: WorkflowRecord | null, nowMs: number): Break[] {
  const { status } = recorded.state;
  if (isFinal(status)) {
    // Histories are kept for a while only: a life that is over needs no workflow.
    if (!workflow?.isRunning || nowMs - recorded.updatedAtMs < GRACE_MS) return [];
    return [{ kind: 'mismatch', detail: `"${status}" here, and its workflow goes on`, replayable: false }];
  }
  if (workflow === null || !workflow.isRunning) {
    const detail = `it is "${status}" and has no running workflow: run \`lunas recover\``;
    return [{ kind: 'missing', detail, replayable: false }];
  }
  if (workflow.status === null || workflow.status === status) return [];
  const detail = `"${status}" here, "${workflow.status}" in its workflow`;
  return [{ kind: 'mismatch', detail, replayable: false }];
}

function findOverdue({ state, settlementKind, createdAtMs, expiresAtMs }: RecordedPayment, nowMs: number): Break[] {
  const overdue = (dueMs: number | undefined, what: string): Break[] => {
    if (dueMs === undefined || nowMs <= dueMs + GRACE_MS) return [];
    return [{ kind: 'overdue', detail: `${what} since ${new Date(dueMs).toISOString()}`, replayable: false }];
  };
  switch (state.status) {
    case 'created':
      return overdue(createdAtMs + LONGEST_CREATION_MS, 'it should have a QR, or have failed,');
    case 'pending':
      return overdue(expiresAtMs, 'it should have expired');
    case 'paid':
      return settlementKind === 'automatic' ? overdue(state.settlesAtMs, 'it should have settled') : [];
    case 'refund_processing':
      return state.refund?.status === 'held' ? overdue(state.refund.submitAtMs, 'its refund should have gone out') : [];
    default:
      return [];
  }
}

/** Two minutes of tries, and the look-up after them. */
const LONGEST_CREATION_MS = 3 * 60_000;
