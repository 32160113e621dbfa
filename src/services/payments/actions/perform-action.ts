import { v7 as uuidv7 } from 'uuid';
import type { OperatorActor } from '../../../domain/actor';
import { UserError } from '../../../errors';
import { forEachConcurrent } from '../../../lib/for-each-concurrent';
import type { Reasons } from '../../operations/rejections';
import { requireDone } from '../../operations/require-done';
import type { cancelPayment } from './cancel-payment';
import type { failPayment } from './fail-payment';
import type { FIRE_TIMER } from './fire-timer';
import type { PaymentActionDependencies, PaymentActionResult } from './operator-action';
import type { refundPayment } from './refund-payment';
import type { RESOLVE_REFUND } from './resolve-refund';
import type { retryRefund } from './retry-refund';
import type { settlePayment } from './settle-payment';

type ValueOf<Table> = Table[keyof Table];

/** What operators do with a payment. */
export type OperatorPaymentOperation =
  | typeof settlePayment
  | typeof failPayment
  | typeof cancelPayment
  | typeof refundPayment
  | typeof retryRefund
  | ValueOf<typeof RESOLVE_REFUND>
  | ValueOf<typeof FIRE_TIMER>;

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
  return requireDone<PaymentActionResult, Reasons>(await operation.run(dependencies, actor, call));
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
