// A shop with one product: it creates a payment, redirects to the checkout page, and ships once.
import { randomUUID } from 'node:crypto';
import { Lunas, webhooks, WebhookVerificationError } from '@lunas/node';
import express from 'express';

const lunas = new Lunas({ apiKey: process.env.LUNAS_KEY, baseUrl: process.env.LUNAS_URL });
const PRICE_RUPIAH = 50_000;
const orders = new Map(); // your database: by order id, the status of the payment and how often it was shipped

const shop = express();

shop.get('/', (_request, response) => {
  response.send('<form method="post" action="/orders"><button>Buy coffee for Rp 50.000</button></form>');
});

shop.post('/orders', async (_request, response) => {
  const id = `ORDER-${randomUUID()}`;
  orders.set(id, { status: 'new', updatedAt: '', shipped: 0 });
  // The idempotency key names the attempt to pay the order: a repeated request creates no second payment.
  const payment = await lunas.payments.create(
    { amount: PRICE_RUPIAH, merchant_reference_id: id },
    { idempotencyKey: `${id}-1` },
  );
  const { checkout_url } = await lunas.payments.qris(payment.id);
  response.redirect(303, checkout_url);
});

shop.get('/orders/:id', (request, response) => {
  const order = orders.get(request.params.id);
  if (!order) return response.sendStatus(404);
  response.json(order);
});

shop.post('/webhooks', express.raw({ type: 'application/json' }), (request, response) => {
  let event;
  try {
    event = webhooks.verify(request.body, request.headers, process.env.WEBHOOK_SECRET);
  } catch (error) {
    return response.sendStatus(error instanceof WebhookVerificationError ? 401 : 500);
  }
  if (event.event.startsWith('payment.')) record(event);
  response.sendStatus(200);
});

/** In one transaction of your database. A webhook can arrive twice, and `settled` can overtake `paid`. */
function record({ merchant_reference_id, status, updated_at }) {
  const order = orders.get(merchant_reference_id);
  if (!order || updated_at < order.updatedAt) return;
  order.status = status;
  order.updatedAt = updated_at;
  if ((status === 'paid' || status === 'settled') && order.shipped === 0) order.shipped += 1;
}

shop.listen(process.env.PORT ?? 4000, '127.0.0.1');
