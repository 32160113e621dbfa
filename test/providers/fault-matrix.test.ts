import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { z } from 'zod';
import { paymentIdentity } from '../../src/api/create-payment/payment-identity';
import { setPolicy } from '../../src/operator/catalog';
import type { FaultKind, Operation } from '../../src/sandbox/faults';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { until } from '../support/until';

/**
 * Each way in which the acquirer can fail × each operation, at the whole service: API, worker, Temporal, PostgreSQL, sandbox.
 * A trial is one payment and one fault; `FAULT_TRIALS=200` runs the full size, `FAULT_SEED` another draw.
 */
const TRIALS = Number(process.env.FAULT_TRIALS ?? 4);
const SEED = Number(process.env.FAULT_SEED ?? 1);

/** Payments at once; larger sizes take several rounds. */
const ROUND = Math.min(TRIALS, 25);
const ROUNDS = Math.ceil(TRIALS / ROUND);
const PATIENCE_MS = 60_000;
const TEST_TIMEOUT_MS = 2 * PATIENCE_MS * ROUNDS;

const API_KINDS = [
  'timeout',
  'reset',
  'http_500',
  'reject',
  'accept_then_timeout',
  'accept_then_reset',
  'half_body',
  'slow',
] as const satisfies FaultKind[];
const NOTIFY_KINDS = [...API_KINDS, 'bad_signature', 'silent'] as const satisfies FaultKind[];
/** The acquirer drops the news for good: only the expiry finds out. */
const NEVER_TOLD: ReadonlySet<FaultKind> = new Set(['reject', 'silent']);

const trials = fc.record({ amount: fc.integer({ min: 1000, max: 900_000 }), copies: fc.integer({ min: 1, max: 3 }) });
type Trial = typeof trials extends fc.Arbitrary<infer Drawn> ? Drawn : never;

interface Payment {
  readonly id: string;
  readonly referenceId: string;
  readonly status: string;
}

const ledgerSchema = z.object({
  payments: z.array(
    z.object({
      order_id: z.string(),
      status: z.string(),
      charge_calls: z.number(),
      refunds: z.array(z.object({ status: z.string() })),
    }),
  ),
});
const faultsSchema = z.object({ faults: z.array(z.object({ kind: z.string(), times: z.number() })) });
type Order = z.infer<typeof ledgerSchema>['payments'][number];

/** What the acquirer's book must say of a payment that says this; null: no order at all. */
const ORDER_OF = {
  pending: 'pending',
  paid: 'settlement',
  expired: 'expire',
  cancelled: 'cancel',
  failed: null,
  refunded: 'refund',
  refund_failed: 'settlement',
} as const;
type Outcome = keyof typeof ORDER_OF;

let service: TestService;
let drawn = 0;
const figures = { payments: 0, faults: 0 };

beforeAll(async () => {
  service = await startTestService(await newNamespace(), { maxCachedWorkflows: 500, refundHoldSeconds: 0 });
});

afterAll(async () => {
  process.stderr.write(`Fault matrix, seed ${SEED}: ${figures.payments} payments, ${figures.faults} faults.\n`);
  await service.close();
});

/** The next payments of the draw. */
function draw(): Trial[] {
  drawn += 1;
  return fc.sample(trials, { seed: SEED + drawn, numRuns: ROUND });
}

async function simulator(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${service.sandboxUrl}/simulator/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`The sandbox answered ${response.status}: ${await response.text()}`);
  return response.json();
}

async function arm(operation: Operation, kind: FaultKind): Promise<void> {
  figures.faults += ROUND;
  await simulator('PUT', 'faults', { operation, kind, times: ROUND });
}

/** Each armed fault must have hit a call, else the trial was none; one by which news is kept back counts for nothing. */
async function expectAllUsed(): Promise<void> {
  const { faults } = faultsSchema.parse(await simulator('GET', 'faults'));
  expect(faults.filter(({ kind, times }) => kind !== 'silent' || times <= ROUND)).toEqual([]);
}

/** New payments keep this policy. */
function expiresIn(seconds: number): Promise<unknown> {
  return setPolicy(service.db, {
    provider: 'gopay',
    channel: 'qris',
    feeBasisPoints: 70,
    feeFlatRupiah: 0,
    settlementKind: 'automatic',
    settlementDelaySeconds: 86_400,
    expiresInSeconds: seconds,
  });
}

/** As a careful merchant does it: the same request again until there is an answer, and it is no 5xx. */
async function insist(path: string, body?: object, headers?: Record<string, string>): Promise<void> {
  const ask = () => service.call('POST', path, body, headers);
  await until(
    () => ask().then(({ status }) => status, isTimeout),
    (status) => typeof status === 'number' && status < 500,
    PATIENCE_MS,
  );
}

function isTimeout(error: unknown): 'timeout' {
  if (typeof error === 'object' && error !== null && 'name' in error && error.name === 'TimeoutError') return 'timeout';
  throw error;
}

function side<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  return Promise.all(items.map(work));
}

/** How many trials were made of each operation. */
async function inRounds(work: () => Promise<void>): Promise<number> {
  for (let round = 0; round < ROUNDS; round += 1) {
    // What a failed test left armed is not for the next one.
    await simulator('DELETE', 'faults');
    await work();
  }
  return ROUNDS * ROUND;
}

async function create({ amount }: Trial): Promise<Payment> {
  const key = randomUUID();
  const body = { amount, currency: 'IDR', payment_method: 'qris', provider: 'gopay' };
  await insist('/payments', body, { 'idempotency-key': key });
  const [payment] = await read([paymentIdentity(service.merchantId, key).paymentId]);
  if (!payment) throw new Error(`No payment under the key ${key}`);
  figures.payments += 1;
  return payment;
}

async function read(ids: readonly string[]): Promise<Payment[]> {
  const { rows } = await service.db.query<Payment>(
    `select id, reference_id as "referenceId", status from payments where id = any($1)`,
    [ids],
  );
  return rows;
}

async function becomes(payments: readonly Payment[], expected: Outcome): Promise<void> {
  const ids = payments.map(({ id }) => id);
  await until(
    () => read(ids),
    (rows) => rows.every(({ status }) => status === expected),
    PATIENCE_MS,
  );
}

/** They all get there, the acquirer says the same, and nothing was opened or refunded twice. */
async function expectOutcome(payments: readonly Payment[], expected: Outcome): Promise<void> {
  await becomes(payments, expected);
  const ids = new Set(payments.map(({ referenceId }) => referenceId));
  const { payments: book } = ledgerSchema.parse(await simulator('GET', 'payments'));
  const orders = book.filter(({ order_id }) => ids.has(order_id));
  const taken = (order: Order) => order.refunds.filter(({ status }) => status !== 'rejected').length;
  const seen = orders.map((order) => ({ status: order.status, charges: order.charge_calls, refunds: taken(order) }));
  const status = ORDER_OF[expected];
  const right = { status, charges: 1, refunds: expected === 'refunded' ? 1 : 0 };
  expect(seen).toEqual(status === null ? [] : payments.map(() => right));
}

const pay = ({ referenceId }: Payment, copies = 1) => service.pay(referenceId, { times: copies });

async function failCalls(kind: FaultKind): Promise<void> {
  await expiresIn(900);
  const [cancelling, refunding] = [await side(draw(), create), await side(draw(), create)];
  await side(refunding, (payment) => pay(payment));
  await becomes(refunding, 'paid');
  // Else the acquirer's own news of an expiry makes the call needless that is to fail.
  await simulator('PUT', 'faults', { operation: 'notify', kind: 'silent', times: 10_000 });
  await arm('expire', kind);
  await expiresIn(3);
  const expiring = await side(draw(), create);
  await expiresIn(900);

  await Promise.all([arm('charge', kind), arm('cancel', kind), arm('refund', kind)]);
  const [charged] = await Promise.all([
    side(draw(), create),
    side(cancelling, ({ id }) => insist(`/payments/${id}/cancel`)),
    side(refunding, ({ id }) => insist(`/payments/${id}/refund`)),
  ]);
  const isRefusal = kind === 'reject';
  await expectOutcome(charged, isRefusal ? 'failed' : 'pending');
  await expectOutcome(cancelling, isRefusal ? 'pending' : 'cancelled');
  await expectOutcome(refunding, isRefusal ? 'refund_failed' : 'refunded');
  await expectOutcome(expiring, 'expired');
  await expectAllUsed();
}

async function failLookUps(kind: FaultKind): Promise<void> {
  await expiresIn(900);
  const drawnTrials = draw();
  const payments = await side(drawnTrials, create);
  await arm('status', kind);
  await side([...payments.entries()], ([index, payment]) => pay(payment, drawnTrials[index]?.copies));
  await expectOutcome(payments, 'paid');
  await expectAllUsed();
}

async function failNotifications(kind: FaultKind): Promise<void> {
  // Time enough to create and pay all of them: money after the expiry is another story.
  await expiresIn(NEVER_TOLD.has(kind) ? 5 + Math.ceil(ROUND / 2) : 900);
  const payments = await side(draw(), create);
  await arm('notify', kind);
  await side(payments, (payment) => pay(payment));
  await expectOutcome(payments, 'paid');
  await expectAllUsed();
}

describe.each(API_KINDS)('%s', (kind) => {
  it(
    'on charge, expire, cancel and refund, side by side',
    async () => {
      expect(await inRounds(() => failCalls(kind))).toBeGreaterThanOrEqual(TRIALS);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'on the look-up of a payment reported paid',
    async () => {
      expect(await inRounds(() => failLookUps(kind))).toBeGreaterThanOrEqual(TRIALS);
    },
    TEST_TIMEOUT_MS,
  );
});

it.each(NOTIFY_KINDS)(
  '%s, on notifications of payments',
  async (kind) => {
    expect(await inRounds(() => failNotifications(kind))).toBeGreaterThanOrEqual(TRIALS);
  },
  TEST_TIMEOUT_MS,
);
