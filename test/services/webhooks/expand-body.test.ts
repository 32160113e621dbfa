import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { eraseDetails } from '../../../src/db/payments/payment-details';
import { findPaymentsWithParts } from '../../../src/db/payments/payment-parts';
import { LATE_PAYMENT_EVENTS, PAYMENT_EVENTS } from '../../../src/domain/events';
import { WEBHOOK_EXPANSIONS, type WebhookExpansion } from '../../../src/domain/expansions';
import { expand } from '../../../src/services/payments/expand';
import { findDelivery } from '../../../src/webhooks/outbox';
import { expandBodyOf, linksOf } from '../../support/expand-body';
import { createTestLedger, type TestLedger } from '../../support/payments';
import { change, registerEndpoint } from '../../support/webhooks';
import { applyTransitions, payLate, type AppliedPath, type StepName } from '../ledger/transition-path';

const sealer = createSealer(randomBytes(32).toString('base64'));
const DETAILS = { metadata: { '2': 'b', '1': 'a' }, customer: { name: 'Sri Rahayu' } };

let ledger: TestLedger;
let worker: Pool;

beforeAll(async () => {
  const created = await createTestLedger();
  ledger = created;
  worker = createPool(created.database.urlOf('lunas_local_worker'), { max: 2 });
});
beforeEach(async () => {
  const merchantId = randomUUID();
  await ledger.db.query("insert into merchants (id, name, status) values ($1, 'Toko', 'approved')", [merchantId]);
  ledger = { ...ledger, merchantId };
});
afterAll(async () => {
  await worker.end();
  await ledger.close();
});

const register = (members: readonly WebhookExpansion[]) =>
  registerEndpoint(ledger.db, sealer, {
    merchantId: ledger.merchantId,
    url: 'http://127.0.0.1:9/',
    events: [...PAYMENT_EVENTS, ...LATE_PAYMENT_EVENTS],
    expand: members,
  });

const create = (steps: readonly StepName[]) => applyTransitions(ledger, steps, { merchantId: ledger.merchantId });

async function storeSealed({ paymentId, fingerprint }: AppliedPath['terms']): Promise<void> {
  const sealed = sealer.seal(JSON.stringify(DETAILS), ['payment-details', paymentId]);
  await ledger.db.query('insert into payment_details (payment_id, fingerprint, sealed) values ($1, $2, $3)', [
    paymentId,
    fingerprint,
    sealed,
  ]);
}

/** What the worker sends now to an endpoint about a payment, in the order of the events, and without what it adds. */
async function sent(endpointId: string, { paymentId }: AppliedPath['terms']) {
  const { rows } = await ledger.db.query<{ id: string }>(
    `select id from webhook_deliveries where endpoint_id = $1 and payment_id = $2
     order by coalesce(payment_version, late_payment_version)`,
    [endpointId, paymentId],
  );
  const bodies = rows.map(async ({ id }) => {
    const delivery = await findDelivery(worker, id);
    return { contract: delivery.body, body: (await expandBodyOf(worker, sealer)(delivery)).body };
  });
  return Promise.all(bodies);
}

/** The members of a payment as `?expand=` shows them now. */
async function shown({ paymentId }: AppliedPath['terms']) {
  const parts = ['sealedDetails', 'refund', 'latePayment', 'settledAt'] as const;
  const [payment] = await findPaymentsWithParts(ledger.db, ledger.merchantId, { paymentIds: [paymentId], parts });
  if (!payment) throw new Error('there is no payment');
  return expand({ sealer, ...linksOf(ledger.db, sealer) }, payment, WEBHOOK_EXPANSIONS);
}

/** Without what differs between two payments. */
const comparable = ({ qris, checkout_url, ...members }: Awaited<ReturnType<typeof shown>>) => ({
  ...members,
  qris: typeof qris,
  checkout_url: typeof checkout_url,
});

const PATHS: readonly (readonly StepName[])[] = [
  ['issue', 'pay', 'settle'],
  ['issue', 'expire'],
  ['issue', 'fail'],
  ['fail_creation'],
  ['issue', 'pay', 'request_refund', 'cancel_refund', 'request_refund', 'submit_refund', 'confirm_refund'],
  ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund', 'confirm_failed_refund'],
  ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund', 'retry_refund', 'submit_refund', 'confirm_refund'],
  ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund', 'resolve_refund_as_paid', 'settle'],
];

it.each(PATHS.map((steps) => [steps] as const))('a body has the members as of each event: %j', async (steps) => {
  const { id } = await register(WEBHOOK_EXPANSIONS);
  const { terms } = await create(steps);
  // Each event of the payment is the last one of a shorter path with the same timestamps.
  const expected = [];
  for (let length = 0; length <= steps.length; length += 1) {
    if (steps[length - 1] === 'submit_refund') continue;
    expected.push(comparable(await shown((await create(steps.slice(0, length))).terms)));
  }
  const bodies = (await sent(id, terms)).map(({ body }) => JSON.parse(body));
  expect(bodies.map((body) => comparable(body))).toMatchObject(expected);
  expect(bodies.map(({ event }) => event)).toHaveLength(expected.length);
});

it('adds what an endpoint wants behind the keys of the contract, also to events of late payments', async () => {
  const plain = await register([]);
  const { id } = await register(['late_payment', 'customer', 'metadata']);
  const path = await create(['issue', 'expire']);
  await storeSealed(path.terms);
  await payLate(ledger, path, 50_000, 'refunded');
  for (const { contract, body } of await sent(plain.id, path.terms)) expect(body).toBe(contract);
  const bodies = await sent(id, path.terms);
  for (const { contract, body } of bodies) {
    expect(JSON.parse(body)).toEqual({
      ...JSON.parse(contract),
      ...DETAILS,
      late_payment: JSON.parse(body).late_payment,
    });
    expect(Object.keys(JSON.parse(body)).slice(-3)).toEqual(['metadata', 'customer', 'late_payment']);
  }
  expect(bodies.map(({ body }) => JSON.parse(body).late_payment?.status)).toEqual([
    undefined,
    undefined,
    undefined,
    'received',
    'refunded',
  ]);
});

it('sends the same bytes at each attempt, but nothing that was erased', async () => {
  const { id } = await register(['metadata', 'customer']);
  const { terms } = await create(['issue', 'pay']);
  await storeSealed(terms);
  const first = await sent(id, terms);
  expect(first.at(-1)?.body).toContain('Sri Rahayu');
  expect(await sent(id, terms)).toEqual(first);
  await eraseDetails(ledger.db, terms.paymentId);
  for (const { body } of await sent(id, terms))
    expect(JSON.parse(body)).toMatchObject({ metadata: null, customer: null });
});

it('attack: the worker reads sealed details only for an endpoint of the merchant that adds them', async () => {
  const { id } = await register(['metadata']);
  const { terms } = await create([]);
  await storeSealed(terms);
  const readable = async () => {
    const { rows } = await worker.query(
      'select webhook_details(id) is not null as readable from webhook_deliveries where endpoint_id = $1',
      [id],
    );
    return rows.map((row) => row.readable);
  };
  expect(await readable()).toEqual([true]);
  await change(ledger.db, id, { expand: ['settlement'] });
  expect(await readable()).toEqual([false]);
  await expect(worker.query("update webhook_endpoints set expand = '{customer}'")).rejects.toThrow('permission denied');
  await expect(worker.query('select sealed from payment_details')).rejects.toThrow('permission denied');
});
