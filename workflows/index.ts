export { latePayment } from './late-payment';
export { payment } from './payment';
export { reconcile } from './reconcile';
export { webhookDelivery } from './webhook-delivery';
