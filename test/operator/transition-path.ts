import { acceptPayment } from '../../src/db/transitions/accept-payment';
import type { TransitionInput, TransitionContext, TransitionResult } from '../../src/db/transitions/apply-transition';
import { cancelPayment } from '../../src/db/transitions/cancel-payment';
import { cancelRefund } from '../../src/db/transitions/cancel-refund';
import { confirmFailedRefund, confirmRefund } from '../../src/db/transitions/confirm-refund';
import { denyPayment } from '../../src/db/transitions/deny-payment';
import { expirePayment } from '../../src/db/transitions/expire-payment';
import { issuePayment } from '../../src/db/transitions/issue-payment';
import {
  requireManualReview,
  recordLatePayment,
  refundLatePayment,
  refundLatePaymentManually,
} from '../../src/db/transitions/late-payment';
import { payPayment } from '../../src/db/transitions/pay-payment';
import { refuseRefund } from '../../src/db/transitions/refuse-refund';
import { rejectPayment } from '../../src/db/transitions/reject-payment';
import { requestRefund, retryRefund } from '../../src/db/transitions/request-refund';
import { resolveRefundAsPaid } from '../../src/db/transitions/resolve-refund-as-paid';
import { resolveRefundAsRefunded } from '../../src/db/transitions/resolve-refund-as-refunded';
import { settlePayment } from '../../src/db/transitions/settle-payment';
import { submitRefund } from '../../src/db/transitions/submit-refund';
import type { PaymentTerms } from '../../src/domain/payment';
import { PAYMENT_TRANSITIONS, type PaymentStatus, type TransitionName } from '../../src/domain/payment-transitions';
import { type RefundStatus } from '../../src/domain/refund';
import type { TestLedger } from '../support/payments';
import { creation } from '../support/payments';

export const T0 = new Date('2026-11-21T08:00:00.000Z');

type StepName = Exclude<TransitionName, 'create'>;

/** Where a payment stands, by a model of its own. */
interface PathState {
  readonly status: PaymentStatus;
  readonly version: number;
  readonly number: number;
  readonly refund: RefundStatus | null;
}

/** Each writer of a step, for the refund number that the payment is at. */
const WRITERS: Record<
  StepName,
  (context: TransitionContext, step: TransitionInput, number: number) => Promise<TransitionResult>
> = {
  issue: (context, step) => issuePayment(context, step, { qrisPayload: '000201', providerTransactionId: 'T' }),
  fail_creation: (context, step) => rejectPayment(context, step, 'denied'),
  pay: (context, step) => payPayment(context, step, T0),
  expire: expirePayment,
  cancel: cancelPayment,
  fail: (context, step) => denyPayment(context, step, 'denied'),
  settle: settlePayment,
  request_refund: (context, step, number) => requestRefund(context, step, newRefund(step, number + 1)),
  submit_refund: submitRefund,
  cancel_refund: cancelRefund,
  confirm_refund: (context, step, number) => confirmRefund(context, step, { number, providerReference: '7' }),
  fail_refund: (context, step, number) => refuseRefund(context, step, { number, reason: 'no' }),
  retry_refund: (context, step, number) => retryRefund(context, step, newRefund(step, number + 1)),
  confirm_failed_refund: (context, step, number) =>
    confirmFailedRefund(context, step, { number, providerReference: '7' }),
  resolve_refund_as_refunded: resolveRefundAsRefunded,
  resolve_refund_as_paid: resolveRefundAsPaid,
};

/** What the refund becomes by a step, and where it has to be for that. */
const REFUND_STEPS: Partial<Record<StepName, { readonly from?: RefundStatus; readonly to: RefundStatus }>> = {
  request_refund: { to: 'held' },
  retry_refund: { to: 'held' },
  submit_refund: { from: 'held', to: 'submitted' },
  cancel_refund: { from: 'held', to: 'cancelled' },
  confirm_refund: { from: 'submitted', to: 'confirmed' },
  fail_refund: { from: 'submitted', to: 'rejected' },
  confirm_failed_refund: { from: 'rejected', to: 'confirmed' },
  resolve_refund_as_refunded: { from: 'rejected', to: 'confirmed' },
};

const MAX_REFUND_NUMBER = 20;
const STEPS = Object.keys(WRITERS).filter((name): name is StepName => name in WRITERS);

function stepsFrom({ status, refund, number }: PathState): StepName[] {
  return STEPS.filter((name) => {
    const refundStep = REFUND_STEPS[name];
    if (refundStep?.to === 'held' && number === MAX_REFUND_NUMBER) return false;
    return PAYMENT_TRANSITIONS[name].from === status && (refundStep?.from === undefined || refundStep.from === refund);
  });
}

export interface AppliedPath {
  readonly terms: PaymentTerms;
  readonly status: PaymentStatus;
  readonly version: number;
  readonly steps: readonly StepName[];
}

/** Leads a new payment along the table, by the writers that the service has; each choice picks one of the steps that there are. */
export async function applyChoices(
  ledger: TestLedger,
  choices: readonly number[],
  changes: Partial<PaymentTerms> = {},
): Promise<AppliedPath> {
  const terms = ledger.newTerms(changes);
  await acceptPayment(ledger.context, creation(terms, T0));
  let current: PathState = { status: 'created', version: 1, number: 0, refund: null };
  const steps: StepName[] = [];
  for (const choice of choices) {
    const possible = stepsFrom(current);
    const name = possible[choice % possible.length];
    if (name === undefined) break;
    await applyTransition(ledger, terms, current, name);
    const refund = REFUND_STEPS[name];
    current = {
      status: PAYMENT_TRANSITIONS[name].to,
      version: current.version + 1,
      number: current.number + (refund?.to === 'held' ? 1 : 0),
      refund: refund?.to ?? current.refund,
    };
    steps.push(name);
  }
  return { terms, status: current.status, version: current.version, steps };
}

/** The same along steps that have a name. */
export async function applyTransitions(
  ledger: TestLedger,
  names: readonly StepName[],
  changes: Partial<PaymentTerms> = {},
): Promise<AppliedPath> {
  const choices: number[] = [];
  let current: PathState = { status: 'created', version: 1, number: 0, refund: null };
  for (const name of names) {
    choices.push(stepsFrom(current).indexOf(name));
    const refund = REFUND_STEPS[name];
    current = { version: 1, number: 0, status: PAYMENT_TRANSITIONS[name].to, refund: refund?.to ?? current.refund };
  }
  return applyChoices(ledger, choices, changes);
}

async function applyTransition(
  { context }: TestLedger,
  { paymentId }: PaymentTerms,
  current: PathState,
  name: StepName,
): Promise<void> {
  const step = { paymentId, version: current.version, at: new Date(T0.getTime() + current.version * 1_000) };
  const { outcome, state } = await WRITERS[name](context, step, current.number);
  if (outcome !== 'applied') throw new Error(`${name} is ${outcome}: ${JSON.stringify(state)}`);
}

function newRefund({ paymentId }: TransitionInput, number: number) {
  return { number, refundKey: `${paymentId}-R${number}`, holdSeconds: 60 };
}

export type LatePaymentOutcome =
  'received' | 'refunded' | 'manual_review' | 'refunded after manual review' | 'refunded manually';

/** Money comes after the end of a payment. */
export async function payLate(
  { db }: TestLedger,
  { terms }: AppliedPath,
  totalRupiah: number,
  outcome: LatePaymentOutcome,
): Promise<void> {
  const { paymentId } = terms;
  await recordLatePayment(db, terms, { totalRupiah, providerTransactionId: 'T', paidAt: T0 }, T0);
  if (outcome === 'manual_review' || outcome === 'refunded after manual review')
    await requireManualReview(db, paymentId, T0, 'no');
  if (outcome === 'refunded manually') await refundLatePaymentManually(db, paymentId, T0);
  if (outcome === 'refunded' || outcome === 'refunded after manual review')
    await refundLatePayment(db, paymentId, T0, '7');
}
