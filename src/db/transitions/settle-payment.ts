import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { updateStatement } from './transition-sql';

const STATEMENT = updateStatement('settle');

/** The settlement delay is over: the net amount becomes available to the merchant. */
export function settlePayment(context: TransitionContext, step: TransitionInput): Promise<TransitionResult> {
  return applyTransition(context, 'settle', STATEMENT, step);
}
