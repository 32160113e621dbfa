import {
  recordLatePayment,
  refundLatePayment,
  refundLatePaymentManually,
  requireManualReview,
} from '../../../src/db/transitions/late-payment-transitions';
import { transitionWriters, type TransitionDetails } from '../../../src/db/transitions/payment-transitions';
import type { PaymentTerms } from '../../../src/domain/payment';
import {
  PAYMENT_TRANSITIONS,
  type PaymentStatus,
  type TransitionName,
  type TransitionRule,
} from '../../../src/domain/payment-transitions';
import { type RefundStatus } from '../../../src/domain/refund';
import { listExceptionsOf } from '../../../src/services/payments/exceptions';
import { creation, type TestLedger } from '../../support/payments';

export const T0 = new Date('2026-11-21T08:00:00.000Z');

export type StepName = Exclude<TransitionName, 'create'>;

/** The expected state of a payment, by the table alone. */
interface PathState {
  readonly status: PaymentStatus;
  readonly version: number;
  readonly number: number;
  readonly refund: RefundStatus | null;
}

const MAX_REFUND_NUMBER = 20;
const RULES: Readonly<Record<TransitionName, TransitionRule>> = PAYMENT_TRANSITIONS;
const STEPS = Object.keys(RULES).filter((name): name is StepName => name in RULES && name !== 'create');

function stepsFrom({ status, refund, number }: PathState): StepName[] {
  return STEPS.filter((name) => {
    const rule = RULES[name];
    if (rule.refund?.from === null && number === MAX_REFUND_NUMBER) return false;
    return rule.from === status && (!rule.refund?.from || rule.refund.from === refund);
  });
}

/** The expected state after a transition. */
function stateAfter({ version, number, refund }: PathState, name: StepName): PathState {
  const rule = RULES[name];
  return {
    status: rule.to,
    version: version + 1,
    number: rule.refund?.from === null ? number + 1 : number,
    refund: rule.refund?.to ?? refund,
  };
}

export interface AppliedPath {
  readonly terms: PaymentTerms;
  readonly status: PaymentStatus;
  readonly version: number;
  readonly steps: readonly StepName[];
}

/** Creates a payment and applies transitions to it. Each choice is an index into the transitions that are possible. */
export async function applyChoices(
  ledger: TestLedger,
  choices: readonly number[],
  changes: Partial<PaymentTerms> = {},
): Promise<AppliedPath> {
  const terms = ledger.newTerms(changes);
  await transitionWriters.create(ledger.context, creation(terms, T0));
  let current: PathState = { status: 'created', version: 1, number: 0, refund: null };
  const steps: StepName[] = [];
  for (const choice of choices) {
    const possible = stepsFrom(current);
    const name = possible[choice % possible.length];
    if (name === undefined) break;
    await applyTransition(ledger, terms, current, name);
    current = stateAfter(current, name);
    steps.push(name);
  }
  return { terms, status: current.status, version: current.version, steps };
}

/** Creates a payment and applies these transitions to it. */
export async function applyTransitions(
  ledger: TestLedger,
  names: readonly StepName[],
  changes: Partial<PaymentTerms> = {},
): Promise<AppliedPath> {
  return applyChoices(ledger, choicesOf(names), changes);
}

/** The choices with which `applyChoices` applies these transitions. */
export function choicesOf(names: readonly StepName[]): number[] {
  const choices: number[] = [];
  let current: PathState = { status: 'created', version: 1, number: 0, refund: null };
  for (const name of names) {
    choices.push(stepsFrom(current).indexOf(name));
    current = stateAfter(current, name);
  }
  return choices;
}

async function applyTransition(
  { context }: TestLedger,
  { paymentId }: PaymentTerms,
  current: PathState,
  name: StepName,
): Promise<void> {
  const { number: refundNumber } = stateAfter(current, name);
  const { outcome, state } = await transitionWriters[name](context, {
    ...DETAILS,
    paymentId,
    version: current.version,
    at: new Date(T0.getTime() + current.version * 1_000),
    refundNumber,
    refundKey: `${paymentId}-R${refundNumber}`,
  });
  if (outcome !== 'applied') throw new Error(`${name} is ${outcome}: ${JSON.stringify(state)}`);
}

/** The inputs of all transitions; each takes those that its statement has. */
const DETAILS = {
  qrisPayload: '000201',
  providerTransactionId: 'T',
  paidAt: T0,
  reason: 'denied',
  holdSeconds: 60,
  requestedBy: 'lunas' as const,
  providerReference: '7',
} as const satisfies Partial<TransitionDetails>;

export type LatePaymentOutcome =
  'received' | 'refunded' | 'manual_review' | 'refunded after manual review' | 'refunded manually';

/** Records a late payment. */
export async function payLate(
  { db }: TestLedger,
  { terms }: AppliedPath,
  totalRupiah: number,
  outcome: LatePaymentOutcome,
): Promise<void> {
  const { paymentId } = terms;
  await recordLatePayment(db, terms, { totalRupiah, providerTransactionId: 'T', paidAt: T0 }, T0);
  if (outcome !== 'received' && outcome !== 'refunded') await requireManualReview(db, paymentId, T0, 'no');
  if (outcome === 'refunded manually') {
    const [exception] = await listExceptionsOf(db, terms.referenceId);
    const refund = { exceptionId: exception?.id ?? '', at: T0, operator: 'cli:test', note: 'sent back' } as const;
    expect(await refundLatePaymentManually(db, refund)).toBe(true);
  }
  if (outcome === 'refunded' || outcome === 'refunded after manual review')
    await refundLatePayment(db, paymentId, T0, '7');
}
