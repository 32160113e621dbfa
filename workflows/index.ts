export { payment } from './payment';
export { webhookDelivery } from './webhook-delivery';
