import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { OperatorActor } from '../../../domain/actor';
import { UserError } from '../../../errors';
import { forEachConcurrent } from '../../../lib/for-each-concurrent';
import type { Call } from '../../operations/operation-spec';
import type { Reasons, Result } from '../../operations/rejections';
import { requireDone } from '../../operations/require-done';
import type { PaymentActionDependencies, PaymentActionResult, paymentPath } from './operator-action';

/** What operators do with a payment. */
export interface OperatorPaymentOperation {
  run(
    needs: PaymentActionDependencies,
    by: OperatorActor,
    call: Call<typeof paymentPath, z.ZodObject>,
  ): Promise<Result<PaymentActionResult, Reasons>>;
}

interface RequestedAction {
  readonly operation: OperatorPaymentOperation;
  readonly note?: string | undefined;
}

/**
 * Performs the operation as an operator who has seen no version of the payment.
 * @param payment its UUID or `reference_id`
 * @throws NotFoundError if there is no such payment, and as `requireDone`
 */
export async function performPaymentAction(
  dependencies: PaymentActionDependencies,
  actor: OperatorActor,
  { operation, note, payment }: RequestedAction & { readonly payment: string },
): Promise<PaymentActionResult> {
  const call = { path: { payment }, input: {}, formId: uuidv7(), note };
  return requireDone(await operation.run(dependencies, actor, call));
}

/** `indeterminate`: the action may have been performed; to repeat it is safe. */
export interface ActionOutcome<Done extends string> {
  readonly payment: string;
  readonly outcome: Done | 'rejected' | 'indeterminate';
  /** Why it was not performed. Null: it was. */
  readonly error: unknown;
}

interface BatchAction<Done extends string> extends RequestedAction {
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
  { operation, done, note }: BatchAction<Done>,
  payments: readonly string[],
): Promise<ActionOutcome<Done>[]> {
  const outcomes: ActionOutcome<Done>[] = [];
  await forEachConcurrent(payments.entries(), CONCURRENCY, async ([index, payment]) => {
    outcomes[index] = await performPaymentAction(dependencies, actor, { operation, payment, note }).then(
      () => ({ payment, outcome: done, error: null }),
      (error: unknown) => ({ payment, outcome: error instanceof UserError ? 'rejected' : 'indeterminate', error }),
    );
  });
  return outcomes;
}
