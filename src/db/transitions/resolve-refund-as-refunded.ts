import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { closeNotificationsAt, refundStatement } from './transition-sql';

const STATEMENT = refundStatement(
  'resolve_refund_as_refunded',
  `
  update refunds set status = 'confirmed', finished_at = changed.updated_at, is_manual = true
  from changed where refunds.payment_id = changed.id and refunds.number = $7`,
  closeNotificationsAt('paid'),
);

/**
 * An operator gave the customer the money back by another way than the provider's refund, such as a bank transfer. The provider
 * has it as paid: a refund that it reports stays open.
 */
export function resolveRefundAsRefunded(
  context: TransitionContext,
  step: TransitionInput,
  number: number,
): Promise<TransitionResult> {
  return applyTransition(context, 'resolve_refund_as_refunded', STATEMENT, step, [number]);
}
