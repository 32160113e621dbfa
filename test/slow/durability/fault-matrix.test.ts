import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { z } from 'zod';
import type { FaultKind, FaultOperation } from '../../../src/sandbox/faults';
import { paymentIdentity } from '../../../src/services/payments/create/payment-identity';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';

/**
 * Each injected fault × each operation, with the whole service: API, worker, Temporal, PostgreSQL, sandbox.
 * A trial is one payment and one fault; `FAULT_TRIALS=200` runs more, `FAULT_SEED` another draw.
 */
const TRIALS = Number(process.env.FAULT_TRIALS ?? bySize({ small: 1, full: 4 }));
const SEED = Number(process.env.FAULT_SEED ?? 1);

/** Concurrent payments; larger sizes take several batches. */
const BATCH_SIZE = Math.min(TRIALS, 25);
const BATCHES = Math.ceil(TRIALS / BATCH_SIZE);
const TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 2 * TIMEOUT_MS * BATCHES;

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
/** The acquirer never notifies: only the query at the expiry finds the payment. */
const NEVER_NOTIFIED: ReadonlySet<FaultKind> = new Set(['reject', 'silent']);

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

/** The status of the order in the acquirer's ledger for each status of the payment; null: no order. */
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
const totals = { payments: 0, faults: 0 };

beforeAll(async () => {
  service = await startTestService(await newNamespace(), { maxCachedWorkflows: 500, refundHoldSeconds: 0 });
});

afterAll(async () => {
  process.stderr.write(`Fault matrix, seed ${SEED}: ${totals.payments} payments, ${totals.faults} faults.\n`);
  await service.close();
});

/** The next payments of the draw. */
function draw(): Trial[] {
  drawn += 1;
  return fc.sample(trials, { seed: SEED + drawn, numRuns: BATCH_SIZE });
}

async function simulator(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${service.sandboxUrl}/simulator/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`The sandbox responded with ${response.status}: ${await response.text()}`);
  return response.json();
}

async function arm(operation: FaultOperation, kind: FaultKind): Promise<void> {
  totals.faults += BATCH_SIZE;
  await simulator('PUT', 'faults', { operation, kind, times: BATCH_SIZE });
}

/** Each injected fault must have hit a call. The fault that suppresses notifications does not count. */
async function expectAllUsed(): Promise<void> {
  const { faults } = faultsSchema.parse(await simulator('GET', 'faults'));
  expect(faults.filter(({ kind, times }) => kind !== 'silent' || times <= BATCH_SIZE)).toEqual([]);
}

/** New payments capture this policy. */
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

/** Repeats the same request until there is a response below 500, as a merchant should. */
async function requestUntilCompleted(path: string, body?: object, headers?: Record<string, string>): Promise<void> {
  const send = () => service.call('POST', path, body, headers);
  await eventually(
    () => send().then(({ status }) => status, isTimeout),
    (status) => typeof status === 'number' && status < 500,
    TIMEOUT_MS,
  );
}

function isTimeout(error: unknown): 'timeout' {
  if (typeof error === 'object' && error !== null && 'name' in error && error.name === 'TimeoutError') return 'timeout';
  throw error;
}

function forAll<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  return Promise.all(items.map(work));
}

/** @returns the number of trials of each operation */
async function inBatches(work: () => Promise<void>): Promise<number> {
  for (let batch = 0; batch < BATCHES; batch += 1) {
    // Faults of a failed test must not affect the next one.
    await simulator('DELETE', 'faults');
    await work();
  }
  return BATCHES * BATCH_SIZE;
}

async function create({ amount }: Trial): Promise<Payment> {
  const key = randomUUID();
  const body = { amount, currency: 'IDR', payment_method: 'qris', provider: 'gopay' };
  await requestUntilCompleted('/payments', body, { 'idempotency-key': key });
  const [payment] = await read([paymentIdentity(service.merchantId, key).paymentId]);
  if (!payment) throw new Error(`No payment under the key ${key}`);
  totals.payments += 1;
  return payment;
}

async function read(ids: readonly string[]): Promise<Payment[]> {
  const { rows } = await service.db.query<Payment>(
    `select id, reference_id as "referenceId", status from payments where id = any($1)`,
    [ids],
  );
  return rows;
}

async function waitForStatus(payments: readonly Payment[], expected: Outcome): Promise<void> {
  const ids = payments.map(({ id }) => id);
  await eventually(
    () => read(ids),
    (rows) => rows.every(({ status }) => status === expected),
    TIMEOUT_MS,
  );
}

/** All payments reach the status, the acquirer has the same, and no order or refund was created twice. */
async function expectOutcome(payments: readonly Payment[], expected: Outcome): Promise<void> {
  await waitForStatus(payments, expected);
  const ids = new Set(payments.map(({ referenceId }) => referenceId));
  const { payments: ledger } = ledgerSchema.parse(await simulator('GET', 'payments'));
  const orders = ledger.filter(({ order_id }) => ids.has(order_id));
  const taken = (order: Order) => order.refunds.filter(({ status }) => status !== 'rejected').length;
  const seen = orders.map((order) => ({ status: order.status, charges: order.charge_calls, refunds: taken(order) }));
  const status = ORDER_OF[expected];
  const correct = { status, charges: 1, refunds: expected === 'refunded' ? 1 : 0 };
  expect(seen).toEqual(status === null ? [] : payments.map(() => correct));
}

const pay = ({ referenceId }: Payment, copies = 1) => service.pay(referenceId, { times: copies });

async function failCalls(kind: FaultKind): Promise<void> {
  await expiresIn(900);
  const [cancelling, refunding] = [await forAll(draw(), create), await forAll(draw(), create)];
  await forAll(refunding, (payment) => pay(payment));
  await waitForStatus(refunding, 'paid');
  // Otherwise the acquirer's own notification of an expiry makes the failing call unnecessary.
  await simulator('PUT', 'faults', { operation: 'notify', kind: 'silent', times: 10_000 });
  await arm('expire', kind);
  await expiresIn(3);
  const expiring = await forAll(draw(), create);
  await expiresIn(900);

  await Promise.all([arm('charge', kind), arm('cancel', kind), arm('refund', kind)]);
  const [charged] = await Promise.all([
    forAll(draw(), create),
    forAll(cancelling, ({ id }) => requestUntilCompleted(`/payments/${id}/cancel`)),
    forAll(refunding, ({ id }) => requestUntilCompleted(`/payments/${id}/refund`)),
  ]);
  const isRejection = kind === 'reject';
  await expectOutcome(charged, isRejection ? 'failed' : 'pending');
  await expectOutcome(cancelling, isRejection ? 'pending' : 'cancelled');
  await expectOutcome(refunding, isRejection ? 'refund_failed' : 'refunded');
  await expectOutcome(expiring, 'expired');
  await expectAllUsed();
}

async function failStatusQueries(kind: FaultKind): Promise<void> {
  await expiresIn(900);
  const drawnTrials = draw();
  const payments = await forAll(drawnTrials, create);
  await arm('status', kind);
  await forAll([...payments.entries()], ([index, payment]) => pay(payment, drawnTrials[index]?.copies));
  await expectOutcome(payments, 'paid');
  await expectAllUsed();
}

async function failNotifications(kind: FaultKind): Promise<void> {
  // Long enough to create and pay all of them before the expiry.
  await expiresIn(NEVER_NOTIFIED.has(kind) ? 5 + Math.ceil(BATCH_SIZE / 2) : 900);
  const payments = await forAll(draw(), create);
  await arm('notify', kind);
  await forAll(payments, (payment) => pay(payment));
  await expectOutcome(payments, 'paid');
  await expectAllUsed();
}

describe.each(API_KINDS)('%s', (kind) => {
  it(
    'a fault on concurrent charges, expiries, cancels and refunds leaves payment and order equal',
    async () => {
      expect(await inBatches(() => failCalls(kind))).toBeGreaterThanOrEqual(TRIALS);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'a fault on the status query of a payment reported paid leaves payment and order equal',
    async () => {
      expect(await inBatches(() => failStatusQueries(kind))).toBeGreaterThanOrEqual(TRIALS);
    },
    TEST_TIMEOUT_MS,
  );
});

it.each(NOTIFY_KINDS)(
  '%s, on notifications of payments',
  async (kind) => {
    expect(await inBatches(() => failNotifications(kind))).toBeGreaterThanOrEqual(TRIALS);
  },
  TEST_TIMEOUT_MS,
);
