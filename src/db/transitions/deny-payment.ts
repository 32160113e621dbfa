import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { closeNotificationsAt, updateStatement } from './transition-sql';

const STATEMENT = updateStatement('deny', ['failure_reason = $7'], closeNotificationsAt('failed'));

/** The provider reports that the payment failed. */
export function denyPayment(context: TransitionContext, step: Step, reason: string): Promise<TransitionOutcome> {
  return applyTransition(context, 'deny', STATEMENT, step, [reason]);
}
