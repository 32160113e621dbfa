import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { closeNotificationsAt, updateStatement } from './transition-sql';

const STATEMENT = updateStatement('fail', ['failure_reason = $7'], closeNotificationsAt('failed'));

/** The provider reports that the payment failed. */
export function denyPayment(
  context: TransitionContext,
  step: TransitionInput,
  reason: string,
): Promise<TransitionResult> {
  return applyTransition(context, 'fail', STATEMENT, step, [reason]);
}
