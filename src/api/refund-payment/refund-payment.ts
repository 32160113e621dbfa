import { refundedPaymentView } from '../payment-views';
import { requestOfPayment } from '../request-of-payment';

/** `POST /payments/:id/refund`: opens a refund of the whole total, which is held back before it goes to the provider. */
export const refundPayment = requestOfPayment({
  request: 'refund',
  code: 'payment_refund_failed',
  ask: (engine, paymentId) => engine.refundPayment(paymentId),
  view: refundedPaymentView,
});
