import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { closeNotificationsAt, updateStatement } from './transition-sql';

const STATEMENT = updateStatement('resolve_refund_as_paid', [], closeNotificationsAt('paid'));

/** An operator gives a refused refund up; the provider's status shows none. */
export function resolveRefundAsPaid(context: TransitionContext, step: TransitionInput): Promise<TransitionResult> {
  return applyTransition(context, 'resolve_refund_as_paid', STATEMENT, step);
}
