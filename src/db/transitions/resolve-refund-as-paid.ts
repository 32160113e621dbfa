import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { closeNotificationsAt, updateStatement } from './transition-sql';

const STATEMENT = updateStatement('resolve_as_paid', [], closeNotificationsAt('paid'));

/** An operator gives a refused refund up; the provider's status shows none. */
export function resolveRefundAsPaid(context: TransitionContext, step: Step): Promise<TransitionOutcome> {
  return applyTransition(context, 'resolve_as_paid', STATEMENT, step);
}
