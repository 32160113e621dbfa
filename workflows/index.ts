export { latePayment } from './late-payment';
export { payment } from './payment';
export { reconcile } from './reconcile';
export { retention } from './retention';
export { webhookDelivery } from './webhook-delivery';
