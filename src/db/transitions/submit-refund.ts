import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { refundStatement } from './transition-sql';

const STATEMENT = refundStatement(
  'submit_refund',
  `
  update refunds set status = 'submitted', submitted_at = changed.updated_at
  from changed where refunds.payment_id = changed.id and refunds.number = $7`,
);

/** From here on the provider may have the refund: written before it is asked for the first time, and no way back. */
export function submitRefund(
  context: TransitionContext,
  step: TransitionInput,
  number: number,
): Promise<TransitionResult> {
  return applyTransition(context, 'submit_refund', STATEMENT, step, [number]);
}
