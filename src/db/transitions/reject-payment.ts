import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { updateStatement } from './transition-sql';

const STATEMENT = updateStatement('reject', ['failure_reason = $7']);

/** The provider refused to issue the QR, or was given up. */
export function rejectPayment(context: TransitionContext, step: Step, reason: string): Promise<TransitionOutcome> {
  return applyTransition(context, 'reject', STATEMENT, step, [reason]);
}
