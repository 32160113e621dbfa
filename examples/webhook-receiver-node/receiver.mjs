import { createHmac, timingSafeEqual } from 'node:crypto';
import express from 'express';

const SECRET = process.env.WEBHOOK_SECRET;
const TOLERANCE_SECONDS = 300;
const payments = new Map(); // your database: what you have of each payment, by its id

const app = express();
app.post('/webhooks', express.raw({ type: 'application/json' }), (request, response) => {
  if (!isGenuine(request.get('X-Service-Signature') ?? '', request.body, SECRET)) return response.sendStatus(401);
  if (request.get('X-Service-Event') !== 'ping') record(JSON.parse(request.body));
  response.sendStatus(200);
});
app.listen(process.env.PORT ?? 4000);

function isGenuine(header, rawBody, secret) {
  const parts = header.split(',');
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest();
  return parts
    .filter((part) => part.startsWith('v1='))
    .map((part) => Buffer.from(part.slice(3), 'hex'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

/** In one transaction of your database. */
function record(event) {
  const known = payments.get(event.id) ?? { fulfilled: false, updated_at: '' };
  if (event.updated_at < known.updated_at) return; // out of order: we know better
  const isPaid = event.status === 'paid' || event.status === 'settled'; // `settled` can overtake `paid`
  payments.set(event.id, { ...event, fulfilled: known.fulfilled || isPaid });
  if (isPaid && !known.fulfilled) console.log(`ship ${event.merchant_reference_id}`);
}
