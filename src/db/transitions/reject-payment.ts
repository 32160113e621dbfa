import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { updateStatement } from './transition-sql';

const STATEMENT = updateStatement('fail_creation', ['failure_reason = $7']);

/** The provider refused to issue the QR, or was given up. */
export function rejectPayment(
  context: TransitionContext,
  step: TransitionInput,
  reason: string,
): Promise<TransitionResult> {
  return applyTransition(context, 'fail_creation', STATEMENT, step, [reason]);
}
