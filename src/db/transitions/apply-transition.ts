import type { PaymentState } from '../../domain/payment';
import type { TransitionName } from '../../domain/payment-transitions';
import type { Queryable } from '../pool';
import type { TransitionStatement } from './transition-sql';

/** What every writer of a state needs: the connection, the label of this installation, and the relay's bell. */
export interface TransitionContext {
  readonly db: Queryable;
  readonly environment: string;
  /** Called when a transition left deliveries behind, so that they go out at once. */
  readonly onDeliveries: () => void;
}

/** One step of one payment: the version that it starts from and the business instant, both from the workflow. */
export interface Step {
  readonly paymentId: string;
  readonly version: number;
  readonly at: Date;
  /** The operator who asked, where one did. */
  readonly actor?: string;
  readonly note?: string;
}

/**
 * `applied` now · `repeated`: this very step had been written before, once · `superseded`: the payment has gone another
 * way and `state` is the truth.
 */
export interface TransitionOutcome {
  readonly outcome: 'applied' | 'repeated' | 'superseded';
  readonly state: PaymentState;
}

/** Runs the statement of a step. `values` are the statement's own parameters, from $7 on. */
export async function applyTransition(
  context: TransitionContext,
  name: Exclude<TransitionName, 'accept'>,
  statement: TransitionStatement,
  step: Step,
  values: readonly unknown[] = [],
): Promise<TransitionOutcome> {
  const own = [step.paymentId, step.version, step.at, ...values];
  const state = await runStatement(context, statement, own, step);
  return state ? { outcome: 'applied', state } : explainMiss(context.db, name, step);
}

/** The state that the statement wrote, or undefined when it found nothing to change. */
export async function runStatement(
  context: TransitionContext,
  statement: TransitionStatement,
  values: readonly unknown[],
  by: Pick<Step, 'actor' | 'note'> = {},
): Promise<PaymentState | undefined> {
  const { rows } = await context.db.query<PaymentState & { deliveries: number }>({
    ...statement,
    values: [by.actor ?? 'workflow', by.note ?? null, context.environment, ...values],
  });
  const row = rows[0];
  if (row && row.deliveries > 0) context.onDeliveries();
  return row && { status: row.status, version: row.version };
}

/** Why a compare-and-set missed: our own earlier write (then say what it wrote), or another's. */
async function explainMiss(db: Queryable, name: TransitionName, step: Step): Promise<TransitionOutcome> {
  const { rows } = await db.query<PaymentState & { repeated: PaymentState['status'] | null }>({
    name: 'explain_missed_transition',
    text: `select payment.status, payment.version, transition.to_status as repeated
      from payments payment
      left join payment_transitions transition
        on transition.payment_id = payment.id and transition.version = $2 + 1 and transition.name = $3
      where payment.id = $1`,
    values: [step.paymentId, step.version, name],
  });
  const row = rows[0];
  if (!row) throw new Error(`Payment ${step.paymentId} is not in the database`);
  if (row.repeated) return { outcome: 'repeated', state: { status: row.repeated, version: step.version + 1 } };
  return { outcome: 'superseded', state: { status: row.status, version: row.version } };
}
