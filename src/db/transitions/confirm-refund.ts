import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { closeNotificationsAt, refundStatement } from './transition-sql';

const CONFIRM = `
  update refunds set status = 'confirmed', finished_at = changed.updated_at, provider_reference = $8
  from changed where refunds.payment_id = changed.id and refunds.number = $7`;

const CONFIRMED = refundStatement('confirm_refund', CONFIRM, closeNotificationsAt('refunded'));
const CONFIRMED_AFTER_ALL = refundStatement('confirm_failed_refund', CONFIRM, closeNotificationsAt('refunded'));

export interface ConfirmedRefund {
  readonly number: number;
  /** Null where the provider gave none. */
  readonly providerReference: string | null;
}

/** The provider confirmed that the customer has the money back. */
export function confirmRefund(
  context: TransitionContext,
  step: TransitionInput,
  { number, providerReference }: ConfirmedRefund,
): Promise<TransitionResult> {
  return applyTransition(context, 'confirm_refund', CONFIRMED, step, [number, providerReference]);
}

/** The same of a refund that had counted as refused. */
export function confirmFailedRefund(
  context: TransitionContext,
  step: TransitionInput,
  { number, providerReference }: ConfirmedRefund,
): Promise<TransitionResult> {
  return applyTransition(context, 'confirm_failed_refund', CONFIRMED_AFTER_ALL, step, [number, providerReference]);
}
