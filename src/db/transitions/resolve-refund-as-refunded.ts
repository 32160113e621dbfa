import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { CLOSE_NOTIFICATIONS, refundStatement } from './transition-sql';

const STATEMENT = refundStatement(
  'resolve_refund_as_refunded',
  `
  update refunds set status = 'confirmed', finished_at = changed.updated_at
  from changed where refunds.payment_id = changed.id and refunds.round = $7`,
  CLOSE_NOTIFICATIONS,
);

/** An operator gave the customer the money back by another way than the provider's refund, such as a bank transfer. */
export function resolveRefundAsRefunded(
  context: TransitionContext,
  step: Step,
  round: number,
): Promise<TransitionOutcome> {
  return applyTransition(context, 'resolve_refund_as_refunded', STATEMENT, step, [round]);
}
