import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { closeNotificationsAt, refundStatement } from './transition-sql';

const CONFIRM = `
  update refunds set status = 'confirmed', finished_at = changed.updated_at, provider_reference = $8
  from changed where refunds.payment_id = changed.id and refunds.round = $7`;

const CONFIRMED = refundStatement('confirm_refund', CONFIRM, closeNotificationsAt('refunded'));
const CONFIRMED_AFTER_ALL = refundStatement('confirm_failed_refund', CONFIRM, closeNotificationsAt('refunded'));

export interface ConfirmedRefund {
  readonly round: number;
  /** Null where the provider gave none. */
  readonly providerReference: string | null;
}

/** The provider confirmed that the customer has the money back. */
export function confirmRefund(
  context: TransitionContext,
  step: Step,
  { round, providerReference }: ConfirmedRefund,
): Promise<TransitionOutcome> {
  return applyTransition(context, 'confirm_refund', CONFIRMED, step, [round, providerReference]);
}

/** The same of a refund that had counted as refused. */
export function confirmFailedRefund(
  context: TransitionContext,
  step: Step,
  { round, providerReference }: ConfirmedRefund,
): Promise<TransitionOutcome> {
  return applyTransition(context, 'confirm_failed_refund', CONFIRMED_AFTER_ALL, step, [round, providerReference]);
}
