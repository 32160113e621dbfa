import type { PaymentRow } from '../db/payments/payment-row';
import { isFinal, type PaymentStatus } from '../domain/payment-transitions';
import { isResting, type PayoutStatus } from '../domain/payout-transitions';
import { describeRetriedStep } from '../domain/retried-step';
import type { PaymentDetails } from '../services/payments/show-payment';
import type { PayoutRecord } from '../services/payouts/show-payout';
import { formatAge } from './duration';
import { withCommands } from './error-hints';
import { printable } from './output';

interface Wait {
  readonly what: string;
  readonly since: Date;
  readonly because: string;
}

/** One sentence: what a payment waits for, since when, and why. */
export function describeWait(details: PaymentDetails): string {
  const { payment, workflow } = details;
  const isAtEnd = isFinal(payment.status);
  return sentenceOf(
    payment,
    isAtEnd ? waitOfFinal(details) : waitOfOpen(payment.referenceId, workflow, recordedCause(details)),
  );
}

/** One sentence: what a payout waits for, since when, and why. */
export function describePayoutWait({ payout, steps, workflow }: PayoutRecord): string {
  const since = steps.at(-1)?.occurredAt ?? payout.requestedAt;
  const recorded = { since, because: PAYOUT_CAUSES[payout.status] };
  const isRunning = workflow !== null && !('error' in workflow) && !('closedAt' in workflow);
  // A payout that rests has no workflow, unless the bank is asked again.
  const isAtRest = isResting(payout.status) && !(isRunning && workflow.attentionReason !== null);
  return sentenceOf(
    payout,
    isAtRest ? { what: 'nothing', ...recorded } : waitOfOpen(payout.referenceId, workflow, recorded),
  );
}

const PAYOUT_CAUSES: Readonly<Record<PayoutStatus, string>> = {
  requested: 'it was requested',
  approved: 'it was approved',
  submitted: 'it was sent to the bank',
  completed: 'the bank has executed it',
  failed: 'its money is in the balance again',
  cancelled: 'its money is in the balance again',
  returned: 'its money came back',
};

interface Subject {
  readonly referenceId: string;
  readonly status: string;
}

function sentenceOf({ referenceId, status }: Subject, { what, since, because }: Wait): string {
  const age = `${since.toISOString()} (${formatAge(Date.now() - since.getTime())})`;
  return printable(withCommands(`${referenceId} (${status}) waits for ${what} since ${age}, because ${because}.`));
}

function waitOfFinal(details: PaymentDetails): Wait {
  return { what: 'nothing', since: lastChangeOf(details), because: 'this status is final' };
}

/** @param recorded why PostgreSQL has it in its status */
function waitOfOpen(
  referenceId: string,
  workflow: (PaymentDetails | PayoutRecord)['workflow'],
  recorded: Omit<Wait, 'what'>,
): Wait {
  const recovery = `a recovery (lunas recover ${referenceId})`;
  if (workflow === null) return { ...recorded, what: recovery, because: 'it has no workflow' };
  if ('error' in workflow) {
    const because = workflow.isWorkerMissing ? workflow.error : `Temporal does not respond (${clause(workflow.error)})`;
    return { ...recorded, what: 'what only its workflow knows', because };
  }
  if ('closedAt' in workflow) {
    const state = workflow.state.replaceAll('_', ' ');
    return { what: recovery, since: workflow.closedAt, because: `its workflow is ${state}` };
  }
  const { waitingFor: what, attentionReason, retriedStep } = workflow;
  if (retriedStep) {
    return { ...recorded, what, because: describeRetriedStep(retriedStep) };
  }
  return { ...recorded, what, ...(attentionReason !== null && { because: clause(attentionReason) }) };
}

interface Due {
  readonly at: (payment: PaymentRow) => Date | null;
  readonly because: string;
}

/** What follows a timer that is over. */
const DUE: Readonly<Partial<Record<PaymentStatus, Due>>> = {
  pending: { at: ({ expiresAt }) => expiresAt, because: 'its QR code has expired' },
  paid: { at: ({ settlementDueAt }) => settlementDueAt, because: 'its settlement delay is over' },
};

const CAUSES: Readonly<Partial<Record<PaymentStatus, string>>> = {
  created: 'the request was accepted',
  pending: 'the provider issued the QR code',
  paid: 'the customer paid',
  refund_processing: 'a refund was requested',
};

/** Since when and why the payment is where PostgreSQL has it. */
function recordedCause(details: PaymentDetails): Omit<Wait, 'what'> {
  const { payment, refunds } = details;
  const due = DUE[payment.status];
  const dueAt = due?.at(payment);
  if (due && dueAt && dueAt.getTime() <= Date.now()) return { since: dueAt, because: due.because };
  const rejection = clause(refunds.at(-1)?.failureReason ?? 'without a reason');
  const because = CAUSES[payment.status] ?? `the provider rejected the refund: ${rejection}`;
  return { since: lastChangeOf(details), because };
}

function lastChangeOf({ payment, transitions }: PaymentDetails): Date {
  return transitions.at(-1)?.occurredAt ?? payment.createdAt;
}

/** A sentence as the end of another one. */
function clause(sentence: string): string {
  return sentence.replace(/\.$/, '').replace(/^(A|It|No|The) /, (word) => word.toLowerCase());
}
