import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { closeNotificationsAt, updateStatement } from './transition-sql';

const STATEMENT = updateStatement('expire', [], closeNotificationsAt('expired'));

/** The provider confirmed that the order expired unpaid. */
export function expirePayment(context: TransitionContext, step: Step): Promise<TransitionOutcome> {
  return applyTransition(context, 'expire', STATEMENT, step);
}
