import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { closeNotificationsAt, updateStatement } from './transition-sql';

const STATEMENT = updateStatement('expire', [], closeNotificationsAt('expired'));

/** The provider confirmed that the order expired unpaid. */
export function expirePayment(context: TransitionContext, step: TransitionInput): Promise<TransitionResult> {
  return applyTransition(context, 'expire', STATEMENT, step);
}
