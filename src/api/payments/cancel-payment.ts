import { cancelledPaymentView } from './payment-responses';
import { requestOfPayment } from './payment-action';

/** `POST /payments/:id/cancel` and its alias: cancels the payment, or a refund that the provider has not got yet. */
export const cancelPayment = requestOfPayment({
  request: 'cancel',
  code: 'payment_cancel_failed',
  send: (workflows, paymentId) => workflows.cancelPayment(paymentId),
  view: cancelledPaymentView,
});
