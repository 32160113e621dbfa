import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { updateStatement } from './transition-sql';

const STATEMENT = updateStatement('settle');

/** The settlement delay is over: the net amount becomes available to the merchant. */
export function settlePayment(context: TransitionContext, step: Step): Promise<TransitionOutcome> {
  return applyTransition(context, 'settle', STATEMENT, step);
}
