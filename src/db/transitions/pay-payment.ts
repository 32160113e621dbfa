import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { closeNotificationsAt, updateStatement } from './transition-sql';

const STATEMENT = updateStatement(
  'pay',
  [
    'paid_at = greatest($7::timestamptz, created_at)',
    "settlement_due_at = $6::timestamptz + settlement_delay_seconds * interval '1 second'",
  ],
  closeNotificationsAt('paid'),
);

/** The provider confirmed the payment at `paidAt`, by its clock, which may count in whole seconds. The settlement delay runs from the step's instant. */
export function payPayment(context: TransitionContext, step: TransitionInput, paidAt: Date): Promise<TransitionResult> {
  return applyTransition(context, 'pay', STATEMENT, step, [paidAt]);
}
