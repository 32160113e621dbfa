import type { OperatorActor } from '../../domain/actor';
import { UserError } from '../../errors';
import { forEachConcurrent } from '../../lib/for-each-concurrent';
import { performPaymentAction, type PaymentActionDependencies, type PaymentActionRequest } from './payment-actions';

/** `indeterminate`: the action may have been performed; to repeat it is safe. */
export interface ActionOutcome<Done extends string> {
  readonly payment: string;
  readonly outcome: Done | 'rejected' | 'indeterminate';
  /** Why it was not performed. Null: it was. */
  readonly error: unknown;
}

interface BatchAction<Done extends string> extends Omit<PaymentActionRequest, 'payment'> {
  /** The outcome of a payment for which the action was performed. */
  readonly done: Done;
}

/** Updates in flight at Temporal. */
const CONCURRENCY = 8;

/**
 * Performs an action for each payment with bounded concurrency. A rejected payment does not stop the others.
 * @param payments ids or references
 */
export async function performForEach<Done extends string>(
  dependencies: PaymentActionDependencies,
  actor: OperatorActor,
  { action, done, note }: BatchAction<Done>,
  payments: readonly string[],
): Promise<ActionOutcome<Done>[]> {
  const outcomes: ActionOutcome<Done>[] = [];
  await forEachConcurrent(payments.entries(), CONCURRENCY, async ([index, payment]) => {
    outcomes[index] = await performPaymentAction(dependencies, actor, { action, payment, note }).then(
      () => ({ payment, outcome: done, error: null }),
      (error: unknown) => ({ payment, outcome: error instanceof UserError ? 'rejected' : 'indeterminate', error }),
    );
  });
  return outcomes;
}
