import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { closeNotificationsAt, updateStatement } from './transition-sql';

const STATEMENT = updateStatement('cancel', ['cancelled_at = $6'], closeNotificationsAt('cancelled'));

/** The provider confirmed that the order is cancelled. */
export function cancelPayment(context: TransitionContext, step: TransitionInput): Promise<TransitionResult> {
  return applyTransition(context, 'cancel', STATEMENT, step);
}
