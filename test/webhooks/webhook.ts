import { randomUUID } from 'node:crypto';
import type { OutgoingWebhook } from '../../src/webhooks/send';

/** A webhook to send to an address, without a database behind it. */
export function webhookTo(url: string): OutgoingWebhook {
  return { deliveryId: randomUUID(), event: 'payment.paid', body: '{"id":"1"}', url, secrets: ['whsec_test'] };
}
