import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { closeNotificationsAt, refundStatement } from './transition-sql';

const STATEMENT = refundStatement(
  'refuse_refund',
  `
  update refunds set status = 'refused', finished_at = changed.updated_at, failure_reason = $8
  from changed where refunds.payment_id = changed.id and refunds.round = $7`,
  closeNotificationsAt('refund_failed'),
);

/** The provider refused the refund, and its status shows none. */
export function refuseRefund(
  context: TransitionContext,
  step: Step,
  { round, reason }: { readonly round: number; readonly reason: string },
): Promise<TransitionOutcome> {
  return applyTransition(context, 'refuse_refund', STATEMENT, step, [round, reason]);
}
