import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { refundStatement } from './transition-sql';

const STATEMENT = refundStatement(
  'cancel_refund',
  `
  update refunds set status = 'cancelled', finished_at = changed.updated_at
  from changed where refunds.payment_id = changed.id and refunds.number = $7`,
);

/** The merchant takes back a refund that the provider has not heard of: the table refuses one that was submitted. */
export function cancelRefund(
  context: TransitionContext,
  step: TransitionInput,
  number: number,
): Promise<TransitionResult> {
  return applyTransition(context, 'cancel_refund', STATEMENT, step, [number]);
}
