import type { PaymentTimeline, TimelineRefund } from '../../../db/payments/find-payment-timeline';
import type { PaymentRow } from '../../../db/payments/payment-row';
import type { PaymentState } from '../../../domain/payment';
import { findRejection, type MerchantPaymentAction } from '../../../domain/payment-actions';
import { merchantRejection, type MerchantView } from '../merchant-view';

/** The state that decides which actions are possible, with the latest refund. */
export function stateOfPayment(
  { status, version, settlementDueAt }: PaymentRow,
  { refunds }: Pick<PaymentTimeline, 'refunds'>,
): PaymentState {
  const refund: TimelineRefund | undefined = refunds.at(-1);
  return {
    status,
    version,
    ...(settlementDueAt && { settlesAtMs: settlementDueAt.getTime() }),
    ...(refund && { refund: { number: refund.number, submitAtMs: refund.submitAtMs, status: refund.status } }),
  };
}

/**
 * Why the user cannot request the action, in the user's language; null if the user can. Of the role, the merchant and
 * the payment, in this order.
 */
export function actionRejection(
  view: MerchantView,
  action: MerchantPaymentAction,
  payment: PaymentRow,
  state: PaymentState,
): string | null {
  const level = action === 'refund' || payment.status === 'refund_processing' ? 'authorise' : 'manage';
  const rejection = findRejection(action, payment, state, view.nowMs);
  return (
    view.rightRejection('payments', level) ??
    merchantRejection(view) ??
    (rejection && view.texts.rejections[rejection.code])
  );
}
