import type { StepActor } from '../../domain/actor';
import type { PaymentState } from '../../domain/payment';
import { PAYMENT_TRANSITIONS, type TransitionName, type TransitionRule } from '../../domain/payment-transitions';
import type { ConfirmationCause } from '../../domain/provider-status';
import { increment } from '../../observability/metrics';
import type { Queryable } from '../connection/pool';
import type { PreparedStatement } from '../connection/statement';
import { COMMON_PARAMETERS, executeTransition, isRecorded, type TransitionContext } from './apply-transition';
import { readState, stateOf, type StateRow } from './payment-state';
import { SUBJECT_TABLES } from './subjects';

/** A transition of one payment, as the workflow requests it. */
export interface TransitionInput {
  readonly paymentId: string;
  /** The version that it starts from. */
  readonly version: number;
  /** By the workflow's clock. */
  readonly at: Date;
  /** The merchant or operator who requested it; absent if the workflow decided it. */
  readonly by?: StepActor;
}

/**
 * `applied`: written now · `repeated`: an earlier attempt had written the same transition · `superseded`: the payment
 * is at another version or status, which `state` contains.
 */
export interface TransitionResult {
  readonly outcome: 'applied' | 'repeated' | 'superseded';
  readonly state: PaymentState;
}

/** The parameters that every statement of a payment's transition has, in this order. */
export const PAYMENT_PARAMETERS = [...COMMON_PARAMETERS, 'paymentId'] as const;

type PaymentParameter = (typeof PAYMENT_PARAMETERS)[number];

interface NamedStatement<Parameter extends string> {
  readonly name: TransitionName;
  readonly statement: PreparedStatement<PaymentParameter | Parameter>;
}

interface WrittenPayment extends StateRow {
  readonly confirmedBy?: ConfirmationCause;
}

/** The state that the statement wrote; undefined if it changed nothing. */
export async function executePaymentTransition<Parameter extends string>(
  context: TransitionContext,
  { name, statement }: NamedStatement<Parameter>,
  values: Readonly<Record<Parameter, unknown>> & { readonly paymentId: string },
  by?: StepActor,
): Promise<PaymentState | undefined> {
  const subject = { kind: 'payment', id: values.paymentId } as const;
  const { from } = PAYMENT_TRANSITIONS[name];
  const transition = { subject, name, from, statement };
  const row = await executeTransition<WrittenPayment, 'paymentId' | Parameter>(context, transition, values, by);
  if (!row) return undefined;
  increment('lunas_payment_transitions_total', { transition: name });
  if (row.confirmedBy) increment('lunas_payments_confirmed_total', { cause: row.confirmedBy });
  return stateOf(row);
}

/** Why the compare-and-set changed nothing: an earlier attempt of the same transition, or another transition. */
export async function resolveConflict(
  db: Queryable,
  name: TransitionName,
  { paymentId, version }: TransitionInput,
): Promise<TransitionResult> {
  const isRepeated = await isRecorded(db, SUBJECT_TABLES.payment, { id: paymentId, version, name });
  const state = await readState(db, paymentId);
  return isRepeated
    ? { outcome: 'repeated', state: stateAfter(name, version + 1, state) }
    : { outcome: 'superseded', state };
}

/**
 * The state that the transition wrote. If the payment has changed since, the workflow repeats those transitions too.
 */
function stateAfter(name: TransitionName, version: number, { refund, ...current }: PaymentState): PaymentState {
  const rule: TransitionRule = PAYMENT_TRANSITIONS[name];
  const status = rule.refund?.to ?? refund?.status;
  return { ...current, status: rule.to, version, ...(refund && status && { refund: { ...refund, status } }) };
}
