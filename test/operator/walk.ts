import { acceptPayment } from '../../src/db/transitions/accept-payment';
import type { Step, TransitionContext, TransitionOutcome } from '../../src/db/transitions/apply-transition';
import { cancelPayment } from '../../src/db/transitions/cancel-payment';
import { cancelRefund } from '../../src/db/transitions/cancel-refund';
import { confirmFailedRefund, confirmRefund } from '../../src/db/transitions/confirm-refund';
import { denyPayment } from '../../src/db/transitions/deny-payment';
import { expirePayment } from '../../src/db/transitions/expire-payment';
import { issuePayment } from '../../src/db/transitions/issue-payment';
import {
  keepLatePayment,
  receiveLatePayment,
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
import type { Ledgered } from '../support/payments';
import { acceptance } from '../support/payments';

export const T0 = new Date('2026-11-21T08:00:00.000Z');

type StepName = Exclude<TransitionName, 'accept'>;

/** Where a payment stands, by a model of its own. */
interface Place {
  readonly status: PaymentStatus;
  readonly version: number;
  readonly round: number;
  readonly refund: RefundStatus | null;
}

/** Each writer of a step, for the refund round that the payment is at. */
const WRITERS: Record<StepName, (context: TransitionContext, step: Step, round: number) => Promise<TransitionOutcome>> =
  {
    issue: (context, step) => issuePayment(context, step, { qrisPayload: '000201', providerTransactionId: 'T' }),
    reject: (context, step) => rejectPayment(context, step, 'denied'),
    pay: (context, step) => payPayment(context, step, T0),
    expire: expirePayment,
    cancel: cancelPayment,
    deny: (context, step) => denyPayment(context, step, 'denied'),
    settle: settlePayment,
    request_refund: (context, step, round) => requestRefund(context, step, newRefund(step, round + 1)),
    submit_refund: submitRefund,
    cancel_refund: cancelRefund,
    confirm_refund: (context, step, round) => confirmRefund(context, step, { round, providerReference: '7' }),
    refuse_refund: (context, step, round) => refuseRefund(context, step, { round, reason: 'no' }),
    retry_refund: (context, step, round) => retryRefund(context, step, newRefund(step, round + 1)),
    confirm_failed_refund: (context, step, round) =>
      confirmFailedRefund(context, step, { round, providerReference: '7' }),
    resolve_refund_as_refunded: resolveRefundAsRefunded,
    resolve_as_paid: resolveRefundAsPaid,
  };

/** What the refund becomes by a step, and where it has to be for that. */
const REFUND_STEPS: Partial<Record<StepName, { readonly from?: RefundStatus; readonly to: RefundStatus }>> = {
  request_refund: { to: 'held' },
  retry_refund: { to: 'held' },
  submit_refund: { from: 'held', to: 'submitted' },
  cancel_refund: { from: 'held', to: 'cancelled' },
  confirm_refund: { from: 'submitted', to: 'confirmed' },
  refuse_refund: { from: 'submitted', to: 'refused' },
  confirm_failed_refund: { from: 'refused', to: 'confirmed' },
  resolve_refund_as_refunded: { from: 'refused', to: 'confirmed' },
};

const MOST_ROUNDS = 20;
const STEPS = Object.keys(WRITERS).filter((name): name is StepName => name in WRITERS);

function stepsFrom({ status, refund, round }: Place): StepName[] {
  return STEPS.filter((name) => {
    const wanted = REFUND_STEPS[name];
    if (wanted?.to === 'held' && round === MOST_ROUNDS) return false;
    return PAYMENT_TRANSITIONS[name].from === status && (wanted?.from === undefined || wanted.from === refund);
  });
}

export interface Walked {
  readonly terms: PaymentTerms;
  readonly status: PaymentStatus;
  readonly version: number;
  readonly steps: readonly StepName[];
}

/** Leads a new payment along the table, by the writers that the service has; each choice picks one of the steps that there are. */
export async function walk(
  ledger: Ledgered,
  choices: readonly number[],
  changes: Partial<PaymentTerms> = {},
): Promise<Walked> {
  const terms = ledger.newTerms(changes);
  await acceptPayment(ledger.context, acceptance(terms, T0));
  let place: Place = { status: 'created', version: 1, round: 0, refund: null };
  const steps: StepName[] = [];
  for (const choice of choices) {
    const possible = stepsFrom(place);
    const name = possible[choice % possible.length];
    if (name === undefined) break;
    await take(ledger, terms, place, name);
    const refund = REFUND_STEPS[name];
    place = {
      status: PAYMENT_TRANSITIONS[name].to,
      version: place.version + 1,
      round: place.round + (refund?.to === 'held' ? 1 : 0),
      refund: refund?.to ?? place.refund,
    };
    steps.push(name);
  }
  return { terms, status: place.status, version: place.version, steps };
}

/** The same along steps that have a name. */
export async function walkAlong(
  ledger: Ledgered,
  names: readonly StepName[],
  changes: Partial<PaymentTerms> = {},
): Promise<Walked> {
  const choices: number[] = [];
  let place: Place = { status: 'created', version: 1, round: 0, refund: null };
  for (const name of names) {
    choices.push(stepsFrom(place).indexOf(name));
    const refund = REFUND_STEPS[name];
    place = { version: 1, round: 0, status: PAYMENT_TRANSITIONS[name].to, refund: refund?.to ?? place.refund };
  }
  return walk(ledger, choices, changes);
}

async function take({ context }: Ledgered, { paymentId }: PaymentTerms, place: Place, name: StepName): Promise<void> {
  const step = { paymentId, version: place.version, at: new Date(T0.getTime() + place.version * 1_000) };
  const { outcome, state } = await WRITERS[name](context, step, place.round);
  if (outcome !== 'applied') throw new Error(`${name} is ${outcome}: ${JSON.stringify(state)}`);
}

function newRefund({ paymentId }: Step, round: number) {
  return { round, refundKey: `${paymentId}-R${round}`, holdSeconds: 60 };
}

export type LateEnd = 'received' | 'refunded' | 'kept' | 'refunded after it was kept' | 'refunded manually';

/** Money comes after the end of a payment. */
export async function payLate({ db }: Ledgered, { terms }: Walked, totalRupiah: number, end: LateEnd): Promise<void> {
  const { paymentId } = terms;
  await receiveLatePayment(db, terms, { totalRupiah, providerTransactionId: 'T', paidAt: T0 }, T0);
  if (end === 'kept' || end === 'refunded after it was kept') await keepLatePayment(db, paymentId, T0, 'no');
  if (end === 'refunded manually') await refundLatePaymentManually(db, paymentId, T0);
  if (end === 'refunded' || end === 'refunded after it was kept') await refundLatePayment(db, paymentId, T0, '7');
}
