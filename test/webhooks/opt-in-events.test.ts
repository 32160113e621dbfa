import { once } from 'node:events';
import { createServer } from 'node:http';
import express from 'express';
import { invoiceEventSchema, latePaymentEventSchema, payoutEventSchema } from '../../src/api/openapi/webhook-event';
import { StreamCursors } from '../../src/api/webhook-stream/stream-cursor';
import { WebhookStreams } from '../../src/api/webhook-stream/webhook-streams';
import { Listener } from '../../src/cli/listen/listener';
import { textReport } from '../../src/cli/listen/report';
import { DerivedKeys } from '../../src/crypto/derived-keys';
import { createSealer, type Sealer } from '../../src/crypto/sealing';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { findDeliveryDetails } from '../../src/db/webhooks/find-delivery-details';
import { findStreamEnd, findStreamPage } from '../../src/db/webhooks/find-webhook-stream';
import { listDeliveryPage } from '../../src/db/webhooks/list-delivery-page';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../src/domain/events';
import type { FeeInvoice } from '../../src/domain/fee-invoice';
import { dayInWib } from '../../src/domain/wib';
import { EVENT_STREAM_HEADERS } from '../../src/http/event-stream';
import { createLogger } from '../../src/observability/logger';
import { issueDueInvoices } from '../../src/services/invoices/issue-invoices';
import { listPayments } from '../../src/services/payments/list-payments';
import { listDeliveries } from '../../src/services/webhooks/webhook-deliveries';
import { findNamedDeliveries, redeliverNamed } from '../../src/services/webhooks/webhook-redelivery';
import { invoicePath } from '../../src/web/dashboard/invoices/invoice-paths';
import { openSecret } from '../../src/webhooks/open-secrets';
import { claimDeliveries, findDelivery } from '../../src/webhooks/outbox';
import { recordDelivered } from '../../src/webhooks/record-attempt';
import { applyTransitions, payLate } from '../services/ledger/transition-path';
import { eventually } from '../support/eventually';
import { issueNow } from '../support/invoices';
import {
  addLines,
  applyPayout,
  createTestPayouts,
  FEE_RUPIAH,
  ofPayments,
  withNewMerchant,
  type TestPayouts,
} from '../support/payouts';
import { startReceiver } from '../support/receiver';
import { creditInvoice } from '../support/shown-invoices';
import { registerEndpoint } from '../support/webhooks';

/* Events that endpoints receive only if they list them. */

let payouts: TestPayouts;
let sealer: Sealer;
let dashboard: Pool;
let api: Pool;
let worker: Pool;

beforeAll(async () => {
  payouts = await createTestPayouts();
  sealer = createSealer(payouts.masterKey);
  dashboard = createPool(payouts.database.urlOf('lunas_local_dashboard'), { max: 4 });
  api = createPool(payouts.database.urlOf('lunas_local_api'), { max: 4 });
  worker = createPool(payouts.database.urlOf('lunas_local_worker'), { max: 4 });
});
beforeEach(async () => {
  payouts = await withNewMerchant(payouts);
  await addLines(payouts, [100_000]);
});
afterAll(async () => {
  await Promise.all([dashboard.end(), api.end(), worker.end()]);
  await payouts.close();
});

const register = (events: readonly WebhookEvent[]) =>
  registerEndpoint(payouts.db, sealer, {
    merchantId: payouts.merchantId,
    url: 'http://127.0.0.1:9/webhooks',
    events,
  });

const FILTER = { status: null, event: null, endpointId: null, createdFrom: null, createdTo: null, start: null };

it('events of payouts reach the endpoints that list them, as the pages and the relay show', async () => {
  await register([]);
  const endpoint = await register(['payout.approved']);
  const { payoutId, referenceId } = await applyPayout(payouts, ['approve', 'cancel']);
  const filter = { ...FILTER, merchantId: payouts.merchantId };
  const { deliveries } = await listDeliveryPage(dashboard, filter, 9);
  expect(deliveries).toMatchObject([{ event: 'payout.approved', referenceId, status: 'pending' }]);
  const id = deliveries[0]?.id ?? '';
  const details = await findDeliveryDetails(dashboard, payouts.merchantId, id);
  expect(details).toMatchObject({ kind: 'payout', referenceId, endpointId: endpoint.id });
  const body = JSON.parse(details?.body ?? '');
  expect(body).toEqual({
    id: payoutId,
    event: 'payout.approved',
    reference_id: referenceId,
    status: 'approved',
    environment: 'sandbox',
    gross_amount: 100_000,
    fee_amount: FEE_RUPIAH,
    amount: 100_000 - FEE_RUPIAH,
    currency: 'IDR',
    rail: 'bi_fast',
    bank_code: '014',
    account_last_four: '7890',
    failure_reason: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect(payoutEventSchema.strict().parse(body)).toEqual(body);
  expect(await listDeliveries(payouts.db, { merchantId: payouts.merchantId, limit: 9 })).toMatchObject([
    { id, event: 'payout.approved', referenceId, payoutId, paymentId: null },
  ]);
  for (const payout of [payoutId, referenceId]) {
    expect(await listDeliveries(payouts.db, { payout, limit: 9 })).toMatchObject([{ id }]);
    expect(await listDeliveries(payouts.db, { payment: payout, limit: 9 })).toEqual([]);
  }
  const claimed = await claimDeliveries(worker, { max: 99, maxPerEndpoint: 9 });
  const delivery = claimed.find(({ deliveryId }) => deliveryId === id);
  expect(delivery).toMatchObject({ subject: { kind: 'payout', id: payoutId } });
  expect(delivery?.sealedSecrets.map((sealed) => openSecret(sealed, sealer))).toEqual([endpoint.secret]);
  if (!delivery) throw new Error('unreachable');
  expect(await findDelivery(worker, id)).toMatchObject({ body: details?.body });
  const attempt = { startedAt: new Date(), durationMs: 1, statusCode: 200, failure: null, responseExcerpt: '' };
  await recordDelivered(worker, [{ delivery, attempt: { ...attempt, retryAfterSeconds: null } }]);
  expect(await findNamedDeliveries(dashboard, payouts, [id])).toMatchObject([{ id, status: 'delivered' }]);
  expect(await redeliverNamed(dashboard, [id])).toEqual({ redelivered: 1, skipped: 0 });
});

it('events of late payments reach the endpoints that list them', async () => {
  await register([]);
  await register(['late_payment.refunded', 'payout.failed']);
  const endpoint = await register(['late_payment.received', 'late_payment.refunded']);
  const { merchantId } = payouts;
  const path = await applyTransitions(ofPayments(payouts), ['issue', 'expire'], { merchantId });
  await payLate(ofPayments(payouts), path, 50_000, 'refunded');
  const { paymentId, referenceId } = path.terms;
  const { deliveries } = await listDeliveryPage(dashboard, { ...FILTER, merchantId }, 99);
  const late = deliveries.filter(({ event }) => event.startsWith('late_payment.'));
  expect(late.map(({ event }) => event).toSorted()).toEqual([
    'late_payment.received',
    'late_payment.refunded',
    'late_payment.refunded',
  ]);
  const claimed = await claimDeliveries(worker, { max: 99, maxPerEndpoint: 99 });
  const own = claimed.filter(({ endpointId }) => endpointId === endpoint.id);
  expect(own.map(({ subject }) => subject)).toEqual([
    { kind: 'late_payment', id: paymentId },
    { kind: 'late_payment', id: paymentId },
  ]);
  const bodies = own.map(({ body }) => JSON.parse(body)).toSorted((a, b) => a.event.localeCompare(b.event));
  expect(bodies).toEqual(
    ['received', 'refunded'].map((status) => ({
      event: `late_payment.${status}`,
      payment_id: paymentId,
      reference_id: referenceId,
      merchant_reference_id: 'ORDER-1',
      status,
      environment: 'sandbox',
      amount: 50_000,
      currency: 'IDR',
      payment_method: 'qris',
      provider: 'gopay',
      paid_at: expect.any(String),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })),
  );
  expect(bodies.map((body) => latePaymentEventSchema.strict().parse(body))).toEqual(bodies);
  const details = await findDeliveryDetails(dashboard, merchantId, own[0]?.deliveryId ?? '');
  expect(details).toMatchObject({ kind: 'late_payment', referenceId });
  const listed = await listDeliveries(payouts.db, { payment: referenceId, event: 'late_payment.received', limit: 9 });
  expect(listed).toMatchObject([{ paymentId, payoutId: null, endpointId: endpoint.id }]);
});

/** An invoice of the merchant, which is issued twice, and a credit note. */
async function issueAndCredit(): Promise<readonly [FeeInvoice, FeeInvoice]> {
  const { db, masterKey, merchantId } = payouts;
  const issued = await issueNow(db, masterKey);
  await issueDueInvoices({ db: worker, sealer }, dayInWib(new Date()));
  const invoice = issued.find((one) => one.merchantId === merchantId);
  if (!invoice) throw new Error('The merchant has no invoice');
  return [invoice, await creditInvoice(payouts, invoice, { feeRupiah: 100, vatRupiah: 0 })];
}

it('an invoice and its credit note reach the endpoints that list them, once each', async () => {
  const { merchantId } = payouts;
  await register([]);
  await register(WEBHOOK_EVENTS.filter((event) => event !== 'invoice.issued'));
  const endpoint = await register(['invoice.issued']);
  const start = await findStreamEnd(api);
  await applyPayout(payouts, []);
  const documents = await issueAndCredit();
  const filter = { ...FILTER, merchantId, event: 'invoice.issued' } as const;
  const { deliveries } = await listDeliveryPage(dashboard, filter, 99);
  const numbers = documents.map(({ number }) => number);
  expect(deliveries.map(({ referenceId }) => referenceId).toSorted()).toEqual(numbers.toSorted());

  const claimed = await claimDeliveries(worker, { max: 99, maxPerEndpoint: 99 });
  const own = claimed.filter(({ endpointId }) => endpointId === endpoint.id);
  expect(own.map(({ subject, referenceId }) => ({ ...subject, referenceId }))).toEqual(
    documents.map(({ id, number }) => ({ kind: 'invoice', id, referenceId: number })),
  );
  const bodies = own.map(({ body }) => JSON.parse(body));
  const { rows: merchants } = await payouts.db.query('select code from merchants where id = $1', [merchantId]);
  expect(bodies).toEqual(
    documents.map(({ number, kind, month, feeRupiah, vatRupiah, corrects, issuedAt }) => ({
      event: 'invoice.issued',
      number,
      kind,
      environment: 'sandbox',
      month,
      fee_amount: feeRupiah,
      vat_amount: vatRupiah,
      currency: 'IDR',
      corrects,
      dashboard_path: invoicePath.to({ code: merchants[0].code, number }),
      issued_at: issuedAt.toISOString(),
    })),
  );
  expect(bodies.map((body) => invoiceEventSchema.strict().parse(body))).toEqual(bodies);

  const streamed = await eventually(
    async () =>
      (await findStreamPage(api, merchantId, start)).events.filter(({ subject }) => subject.kind === 'invoice'),
    (events) => events.length > 1,
  );
  expect(streamed.map(({ subject, body }) => [subject.id, JSON.parse(body)])).toEqual(
    documents.map(({ id }, index) => [id, bodies[index]]),
  );
});

it('the webhook of an invoice is shown, and delivered again', async () => {
  const { merchantId, db } = payouts;
  await register(['invoice.issued']);
  await applyPayout(payouts, []);
  const [invoice] = await issueAndCredit();
  const claimed = await claimDeliveries(worker, { max: 99, maxPerEndpoint: 99 });
  const delivery = claimed.find(({ subject }) => subject.id === invoice.id);
  if (!delivery) throw new Error('The invoice has no delivery');
  const { deliveryId: id, body } = delivery;
  const details = await findDeliveryDetails(dashboard, merchantId, id);
  expect(details).toMatchObject({ kind: 'invoice', referenceId: invoice.number, body });
  const listed = await listDeliveries(db, { merchantId, event: 'invoice.issued', limit: 9 });
  const ofInvoice = { id, invoiceId: invoice.id, referenceId: invoice.number, paymentId: null, payoutId: null };
  expect(listed.find((one) => one.id === id)).toMatchObject(ofInvoice);
  const attempt = { startedAt: new Date(), durationMs: 1, statusCode: 200, failure: null, responseExcerpt: '' };
  await recordDelivered(worker, [{ delivery, attempt: { ...attempt, retryAfterSeconds: null } }]);
  expect(await redeliverNamed(dashboard, [id])).toEqual({ redelivered: 1, skipped: 0 });
  expect(await findDelivery(worker, id)).toMatchObject({ status: 'pending', body });
});

/** Serves the merchant's stream, as the API does for its key. */
async function serveStream() {
  const { merchantId, db } = payouts;
  const cursors = new StreamCursors(new DerivedKeys(db, sealer));
  const streams = new WebhookStreams(api, { cursors, log: createLogger('test', 'silent') });
  const app = express().get('/webhooks/stream', (request, response) => {
    const slot = streams.reserve({ keyId: merchantId, merchantId });
    response.writeHead(200, EVENT_STREAM_HEADERS);
    const reader = { lastEventId: request.get('last-event-id'), isAuthorized: () => Promise.resolve(true) };
    streams.open(slot, reader, response);
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  const close = () => {
    server.closeAllConnections();
    return once(server.close(), 'close');
  };
  return { apiUrl: `http://127.0.0.1:${address.port}`, close };
}

it.each([
  [
    ['payout.approved', 'payout.cancelled'],
    ['payout.approved', 'payout.cancelled', 'payment.created'],
  ],
  [['late_payment.received'], ['payment.created', 'payment.created', 'late_payment.received']],
  [[], ['payment.created']],
] as const)('lunas listen with the events %j forwards %j', async (events, forwarded) => {
  const [server, receiver] = [await serveStream(), await startReceiver()];
  const stopping = new AbortController();
  receiver.respond = (response) => response.writeHead(401).end();
  const printed: string[] = [];
  const notes: string[] = [];
  let cursor: string | null = null;
  const state = {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    get cursor() {
      return cursor;
    },
    async save(next: string) {
      cursor = next;
    },
    close: () => Promise.resolve(),
  };
  const running = new Listener({
    apiUrl: server.apiUrl,
    key: 'sk_test_x',
    forwardTo: receiver.url,
    events: events.length === 0 ? [] : [...events, 'payment.created'],
    state,
    report: textReport({ write: (line) => printed.push(line) }, { write: (line) => notes.push(line) }),
  }).run(stopping.signal);
  try {
    await eventually(
      async () => printed,
      ([line]) => line !== undefined,
    );
    const earlier = await listPayments(payouts.db, { merchantId: payouts.merchantId, limit: 9 });
    const earlierIds = new Set<unknown>(earlier.map(({ id }) => id));
    // A transaction of another test holds the start of the stream back: then it has older events too.
    const ofNew = () => receiver.received.filter(({ body }) => !earlierIds.has(body.id ?? body.payment_id));
    const { payoutId } = await applyPayout(payouts, ['approve', 'cancel']);
    await addLines(payouts, [10_000]);
    const late = await applyTransitions(ofPayments(payouts), ['issue', 'expire'], { merchantId: payouts.merchantId });
    await payLate(ofPayments(payouts), late, 50_000, 'received');
    await eventually(
      async () => [ofNew().length, printed.some((line) => line.includes(`  ${late.terms.paymentId}  ORDER-1  401  `))],
      ([count, isPrinted]) => Number(count) >= forwarded.length && isPrinted === true,
    );
    const forwardedNow = ofNew().map(({ body }) => body.event);
    expect(forwardedNow.slice(0, forwarded.length)).toEqual(forwarded);
    const ofPayout = events.filter((event) => event.startsWith('payout.'));
    expect(printed.filter((line) => line.includes(`  ${payoutId}  401  `))).toHaveLength(ofPayout.length);
    expect(notes).toEqual([expect.stringContaining(`WEBHOOK_SECRET=${state.secret}`)]);
  } finally {
    stopping.abort();
    await running;
    await Promise.all([server.close(), receiver.close()]);
  }
});
