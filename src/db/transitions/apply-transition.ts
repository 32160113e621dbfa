import type { PaymentState } from '../../domain/payment';
import type { TransitionName } from '../../domain/payment-transitions';
import type { RefundStatus } from '../../domain/refund';
import type { Actor } from '../../domain/workflow-step';
import type { Queryable } from '../pool';
import { readState, stateOf, type StateRow } from './payment-state';
import type { TransitionStatement } from './transition-sql';

/** What every writer of a state needs: the connection, the label of this installation, and the relay's bell. */
export interface TransitionContext {
  readonly db: Queryable;
  readonly environment: string;
  /** Called when a transition left deliveries behind, so that they go out at once. */
  readonly onDeliveries: () => void;
}

/** One step of one payment: the version that it starts from and the business instant, both from the workflow. */
export interface TransitionInput {
  readonly paymentId: string;
  readonly version: number;
  readonly at: Date;
  /** The merchant or operator who requested it; absent if the workflow did it by itself. */
  readonly by?: Actor;
}

/**
 * `applied` now · `repeated`: this very step had been written before, once · `superseded`: the payment has gone another
 * way and `state` is the truth.
 */
export interface TransitionResult {
  readonly outcome: 'applied' | 'repeated' | 'superseded';
  readonly state: PaymentState;
}

/** Runs the statement of a step. `values` are the statement's own parameters, from $7 on. */
export async function applyTransition(
  context: TransitionContext,
  name: Exclude<TransitionName, 'create'>,
  statement: TransitionStatement,
  step: TransitionInput,
  values: readonly unknown[] = [],
): Promise<TransitionResult> {
  const own = [step.paymentId, step.version, step.at, ...values];
  const state = await executeTransition(context, statement, own, step.by);
  return state ? { outcome: 'applied', state } : resolveConflict(context.db, name, step);
}

/** The state that the statement wrote, or undefined when it found nothing to change. */
export async function executeTransition(
  context: TransitionContext,
  statement: TransitionStatement,
  values: readonly unknown[],
  by?: Actor,
): Promise<PaymentState | undefined> {
  const { rows } = await context.db.query<StateRow & { deliveries: number }>({
    ...statement,
    values: [by?.name ?? 'workflow', by?.note ?? null, context.environment, ...values],
  });
  const row = rows[0];
  if (row && row.deliveries > 0) context.onDeliveries();
  return row && stateOf(row);
}

/** Why a compare-and-set missed: our own earlier write (then say what it wrote), or another's. */
async function resolveConflict(db: Queryable, name: TransitionName, step: TransitionInput): Promise<TransitionResult> {
  const { rows } = await db.query<{ repeated: PaymentState['status'] | null }>({
    name: 'find_transition',
    text: 'select to_status as repeated from payment_transitions where payment_id = $1 and version = $2 + 1 and name = $3',
    values: [step.paymentId, step.version, name],
  });
  const state = await readState(db, step.paymentId);
  const repeated = rows[0]?.repeated;
  if (!repeated) return { outcome: 'superseded', state };
  return { outcome: 'repeated', state: { ...refundAsOf(name, state), status: repeated, version: step.version + 1 } };
}

/** What a refund was after the step, which may have been taken back or gone on since: the workflow catches up step by step. */
function refundAsOf(name: TransitionName, { refund, ...state }: PaymentState): PaymentState {
  if (!refund) return state;
  return { ...state, refund: { ...refund, status: REFUND_AFTER[name] ?? refund.status } };
}

const REFUND_AFTER: Partial<Record<TransitionName, RefundStatus>> = {
  request_refund: 'held',
  retry_refund: 'held',
  submit_refund: 'submitted',
};
