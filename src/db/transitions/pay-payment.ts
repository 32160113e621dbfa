import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { updateStatement } from './transition-sql';

const CLOSE_NOTIFICATIONS = `
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.reference_id = changed.reference_id and provider_notifications.closed_at is null
),`;

const STATEMENT = updateStatement(
  'pay',
  ['paid_at = $7', "settlement_due_at = $6::timestamptz + settlement_delay_seconds * interval '1 second'"],
  CLOSE_NOTIFICATIONS,
);

/** The provider confirmed the payment at `paidAt`, by its clock. The settlement delay runs from the step's instant. */
export function payPayment(context: TransitionContext, step: Step, paidAt: Date): Promise<TransitionOutcome> {
  return applyTransition(context, 'pay', STATEMENT, step, [paidAt]);
}
