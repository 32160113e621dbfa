import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { closeNotificationsAt, refundStatement } from './transition-sql';

const STATEMENT = refundStatement(
  'fail_refund',
  `
  update refunds set status = 'rejected', finished_at = changed.updated_at, failure_reason = $8
  from changed where refunds.payment_id = changed.id and refunds.number = $7`,
  closeNotificationsAt('refund_failed'),
);

/** The provider refused the refund, and its status shows none. */
export function refuseRefund(
  context: TransitionContext,
  step: TransitionInput,
  { number, reason }: { readonly number: number; readonly reason: string },
): Promise<TransitionResult> {
  return applyTransition(context, 'fail_refund', STATEMENT, step, [number, reason]);
}
