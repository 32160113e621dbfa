import { cancelledPaymentView } from '../payment-views';
import { requestOfPayment } from '../request-of-payment';

/** `POST /payments/:id/cancel` and its alias: cancels the payment, or a refund that the provider has not got yet. */
export const cancelPayment = requestOfPayment({
  request: 'cancel',
  code: 'payment_cancel_failed',
  ask: (engine, paymentId) => engine.cancelPayment(paymentId),
  view: cancelledPaymentView,
});
