import type { Queryable } from '../connection/pool';
import { columnsWith, type PaymentParts } from '../payments/payment-parts';
import type { PaymentRow } from '../payments/payment-row';

const PARTS = ['latePayment', 'settledAt', 'refunds', 'history'] as const;

/** The payment of a delivery, with what its state at each event follows from. */
export type WebhookPayment = PaymentRow &
  Pick<PaymentParts, (typeof PARTS)[number] | 'sealedDetails'> &
  Partial<Pick<PaymentParts, 'refund'>>;

/**
 * The payments of these deliveries, by the id of the delivery; a delivery about a payout or an invoice has none. The
 * worker has no right to the sealed details of customers: a function returns those that the endpoint of the delivery
 * adds.
 */
export async function findWebhookPayments(
  db: Queryable,
  deliveryIds: readonly string[],
): Promise<ReadonlyMap<string, WebhookPayment>> {
  const { rows } = await db.query<WebhookPayment & { readonly deliveryId: string }>({
    name: 'find_webhook_payments',
    text: `select delivery.id as "deliveryId", ${columnsWith(PARTS)}, webhook_details(delivery.id) as "sealedDetails"
      from webhook_deliveries delivery join payments on payments.id = delivery.payment_id
      where delivery.id = any ($1::uuid[])`,
    values: [deliveryIds],
  });
  return new Map(rows.map(({ deliveryId, ...payment }) => [deliveryId, payment]));
}
