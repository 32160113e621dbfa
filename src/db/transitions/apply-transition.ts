import { currentCorrelation } from '../../observability/correlation';
import type { ActorText, StepActor } from '../../domain/actor';
import type { PaymentState } from '../../domain/payment';
import { PAYMENT_TRANSITIONS, type TransitionName, type TransitionRule } from '../../domain/payment-transitions';
import type { ConfirmationCause } from '../../domain/provider-status';
import type { Logger } from '../../observability/logger';
import { increment } from '../../observability/metrics';
import type { Queryable } from '../connection/pool';
import { bindStatement, type PreparedStatement } from '../connection/statement';
import { readState, stateOf, type StateRow } from './payment-state';

/** What every transition needs besides its input. */
export interface TransitionContext {
  readonly db: Queryable;
  /** In the body of each webhook event. */
  readonly environment: string;
  /** Called if a transition wrote deliveries, so that the relay sends them immediately. */
  readonly onDeliveries: () => void;
  /** Has a line for each transition. Absent in commands, which print what they did. */
  readonly log?: Pick<Logger, 'info'>;
}

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

/** The parameters that every statement of a transition has, in this order. */
export const COMMON_PARAMETERS = ['actor', 'note', 'environment', 'requestId', 'traceparent', 'paymentId'] as const;

type CommonParameter = (typeof COMMON_PARAMETERS)[number];

interface NamedStatement<Parameter extends string> {
  readonly name: TransitionName;
  readonly statement: PreparedStatement<CommonParameter | Parameter>;
}

interface WrittenRow extends StateRow {
  readonly deliveries: number;
  readonly confirmedBy?: ConfirmationCause;
}

/** The state that the statement wrote; undefined if it changed nothing. */
export async function executeTransition<Parameter extends string>(
  { db, environment, onDeliveries, log }: TransitionContext,
  { name, statement }: NamedStatement<Parameter>,
  values: Readonly<Record<'paymentId' | Parameter, unknown>>,
  by?: StepActor,
): Promise<PaymentState | undefined> {
  const actor: ActorText = by?.name ?? 'workflow';
  const { requestId = null, traceparent = null } = currentCorrelation() ?? {};
  const all = { ...values, actor, note: by?.note ?? null, environment, requestId, traceparent };
  const { rows } = await db.query<WrittenRow>(bindStatement<CommonParameter | Parameter>(statement, all));
  const row = rows[0];
  if (!row) return undefined;
  if (row.deliveries > 0) onDeliveries();
  increment('lunas_payment_transitions_total', { transition: name });
  if (row.confirmedBy) increment('lunas_payments_confirmed_total', { cause: row.confirmedBy });
  const { from } = PAYMENT_TRANSITIONS[name];
  const { paymentId } = values;
  log?.info({ paymentId, transition: name, from, to: row.status, version: row.version, actor }, 'transition');
  return stateOf(row);
}

/** Why the compare-and-set changed nothing: an earlier attempt of the same transition, or another transition. */
export async function resolveConflict(
  db: Queryable,
  name: TransitionName,
  { paymentId, version }: TransitionInput,
): Promise<TransitionResult> {
  const { rowCount } = await db.query({
    name: 'find_transition',
    text: 'select from payment_transitions where payment_id = $1 and version = $2 + 1 and name = $3',
    values: [paymentId, version, name],
  });
  const state = await readState(db, paymentId);
  return rowCount === 0
    ? { outcome: 'superseded', state }
    : { outcome: 'repeated', state: stateAfter(name, version + 1, state) };
}

/**
 * The state that the transition wrote. If the payment has changed since, the workflow repeats those transitions too.
 */
function stateAfter(name: TransitionName, version: number, { refund, ...current }: PaymentState): PaymentState {
  const rule: TransitionRule = PAYMENT_TRANSITIONS[name];
  const status = rule.refund?.to ?? refund?.status;
  return { ...current, status: rule.to, version, ...(refund && status && { refund: { ...refund, status } }) };
}
