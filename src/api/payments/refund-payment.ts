import { refundedPaymentView } from './payment-responses';
import { requestOfPayment } from './payment-action';

/** `POST /payments/:id/refund`: opens a refund of the whole total, which is held back before it goes to the provider. */
export const refundPayment = requestOfPayment({
  request: 'refund',
  code: 'payment_refund_failed',
  send: (workflows, paymentId) => workflows.refundPayment(paymentId),
  view: refundedPaymentView,
});
