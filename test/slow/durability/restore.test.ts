import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { PAYMENT_STATUSES } from '../../../src/domain/payment-transitions';
import { INVARIANT_NAMES } from '../../faults/invariants';
import { Journal, paymentIn, type ReturnedPayment } from '../../faults/journal';
import { readObservedState, withoutLostDeliveries, type ObservedState } from '../../faults/observed-state';
import { ORACLE } from '../../faults/oracle';
import { startRecordingReceiver, type RecordingReceiver } from '../../faults/receiver';
import { eventually } from '../../support/eventually';
import { SeparateService } from '../separate-service';

/** The steps of docs/operations/postgresql-restored.md, with the built commands. */

const TIMEOUT_MS = 600_000;
const CALL_TIMEOUT_MS = 60_000;
const RUNS_OF_RECOVER = 5;

const endpointSchema = z.object({ endpoint: z.object({ secret: z.string() }) });

/** With a `key`, so that its creation can be repeated. */
interface Payment extends ReturnedPayment {
  readonly key: string;
}

type ExpectedStatus = readonly [name: string, payment: Payment, status: string];

let service: SeparateService;
let receiver: RecordingReceiver;
let webhooksFail = false;
const journal = new Journal();

beforeAll(async () => {
  service = await SeparateService.open();
  receiver = await startRecordingReceiver(() => webhooksFail);
}, TIMEOUT_MS);

afterAll(async () => {
  await service.stopAll();
  await receiver.close();
}, TIMEOUT_MS);

async function call(method: string, path: string, key: string | null = null, body?: object) {
  const startedMs = Date.now();
  const response = await fetch(service.run.api_url + path, {
    method,
    headers: {
      authorization: `Bearer ${service.run.secret_key}`,
      ...(key !== null && { 'idempotency-key': key }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  const text = await response.text();
  const { status, headers } = response;
  journal.entries.push({ atMs: startedMs, method, path, key, status, text, tookMs: Date.now() - startedMs });
  return { status, text, isReplay: headers.get('idempotency-replayed') === 'true' };
}

const bodyFor = (provider: string) => ({
  amount: 50_000,
  provider,
  merchant_reference_id: 'ORDER-7',
  customer: { name: 'Siti' },
  metadata: { table: '12' },
});

function createUnder(key: string, provider = 'gopay') {
  return call('POST', '/payments', key, bodyFor(provider));
}

async function create(provider = 'gopay'): Promise<Payment> {
  const key = `${provider}-${randomUUID()}`;
  const { status, text } = await createUnder(key, provider);
  expect(status).toBe(201);
  return { ...paymentIn(text), key };
}

async function statusOf({ id }: Pick<Payment, 'id'>): Promise<string> {
  return paymentIn((await call('GET', `/payments/${id}`)).text).status;
}

async function waitForStatus(payment: Payment, status: string): Promise<void> {
  await eventually(
    () => statusOf(payment),
    (seen) => seen === status,
  );
}

/** The payments that do not have their expected status. */
async function differing(expected: readonly ExpectedStatus[]): Promise<string[]> {
  const statuses = await Promise.all(expected.map(([, payment]) => statusOf(payment)));
  return expected.flatMap(([name, , expected], index) =>
    statuses[index] === expected ? [] : [`${name} is ${statuses[index]}, not ${expected}`],
  );
}

async function act(payment: Pick<Payment, 'id'>, action: 'cancel' | 'refund'): Promise<void> {
  expect(await call('POST', `/payments/${payment.id}/${action}`)).toMatchObject({ status: 200 });
}

async function simulate(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${service.sandbox.url}/simulator/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return response.json();
}

const pay = ({ reference_id }: Payment) => simulate('POST', `payments/${reference_id}/pay`);
const failNext = (operation: string, kind: string, times = 1) => simulate('PUT', 'faults', { operation, kind, times });
const confirmRefundsAfter = (seconds: number) => simulate('PUT', 'bank', { refund_confirms_after_seconds: seconds });

async function createPaid(): Promise<Payment> {
  const payment = await create();
  await pay(payment);
  await waitForStatus(payment, 'paid');
  return payment;
}

async function createSettled(): Promise<Payment> {
  const payment = await create();
  await pay(payment);
  await waitForStatus(payment, 'settled');
  return payment;
}

async function createCancelled(): Promise<Payment> {
  const payment = await create();
  await act(payment, 'cancel');
  return payment;
}

async function createRefunded(): Promise<Payment> {
  const payment = await createPaid();
  await act(payment, 'refund');
  await waitForStatus(payment, 'refunded');
  return payment;
}

async function createExpired(): Promise<Payment> {
  const payment = await create('shopeepay');
  await waitForStatus(payment, 'expired');
  return payment;
}

async function createRefundFailed(): Promise<Payment> {
  const payment = await createPaid();
  await failNext('refund', 'reject');
  await act(payment, 'refund');
  await waitForStatus(payment, 'refund_failed');
  return payment;
}

/** A payment whose refund is submitted and not confirmed by the bank. */
async function createRefundProcessing(): Promise<Payment> {
  await confirmRefundsAfter(3_600);
  const payment = await createPaid();
  await act(payment, 'refund');
  await eventually(
    () => readStateNow(),
    ({ orders }) => orders.get(payment.reference_id)?.refunds.length === 1,
  );
  return payment;
}

/** The first attempt of each webhook of this step fails, so that it has a retry workflow. */
async function withFailingWebhooks<T>(count: number, step: () => Promise<T>): Promise<T> {
  webhooksFail = true;
  const before = await deliveriesInRetry();
  const result = await step();
  await eventually(deliveriesInRetry, (found) => found === before + count);
  webhooksFail = false;
  return result;
}

async function deliveriesInRetry(): Promise<number> {
  return (await readStateNow()).records.deliveries.filter(({ hasRetryWorkflow: handedOver }) => handedOver).length;
}

async function createRejected(): Promise<string> {
  const key = `rejected-${randomUUID()}`;
  await failNext('charge', 'reject');
  expect(await createUnder(key)).toMatchObject({ status: 400 });
  return key;
}

/** The provider sends no response to the charge until the faults are cleared. */
async function createWithoutQr(): Promise<string> {
  const key = `created-${randomUUID()}`;
  await failNext('charge', 'http_500', 1_000);
  expect(await createUnder(key)).toMatchObject({ status: 500 });
  return key;
}

/** Repeats a creation as a merchant does, until it has the payment. */
async function repeatUntilCreated(key: string): Promise<Payment> {
  const { text } = await eventually(
    () => createUnder(key),
    ({ status }) => status === 201,
  );
  return { ...paymentIn(text), key };
}

const readStateNow = (): Promise<ObservedState> =>
  readObservedState({ sandbox: service.sandbox, receiver, db: service.db, client: service.client }, journal);

async function lunas(...args: readonly string[]): Promise<unknown> {
  const { exitCode, json, stderr } = await service.command(args);
  if (exitCode !== 0) throw new Error(`lunas ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
  return json;
}

function setPolicy(provider: string, ...options: readonly string[]): Promise<unknown> {
  return lunas('catalog', 'set', '--provider', provider, '--channel', 'qris', ...options);
}

async function openService(): Promise<void> {
  await service.startServices();
  await Promise.all([service.start('worker'), service.start('api')]);
}

async function closeService(): Promise<void> {
  await service.stop('api', 'worker');
  await service.stopServices();
}

const OPEN: ReadonlySet<string> = new Set(['created', 'pending', 'paid', 'refund_processing', 'refund_failed']);

/** Open payments without a running workflow. */
async function stranded(): Promise<string[]> {
  const { records, workflows } = await readStateNow();
  const running = new Set(workflows.flatMap(({ id, status }) => (status === 'RUNNING' ? [id] : [])));
  return records.payments.flatMap(({ id, status }) => (OPEN.has(status) && !running.has(`payment-${id}`) ? [id] : []));
}

/** Temporal lists a workflow only some time after its start. */
async function expectNoneStranded(): Promise<void> {
  expect(await eventually(stranded, (ids) => ids.length === 0)).toEqual([]);
}

/** Settlements in PostgreSQL and refunds at the provider. */
async function readMoneyOut(): Promise<unknown> {
  const { records, orders } = await readStateNow();
  return {
    settled: records.transitions.filter(({ to }) => to === 'settled').map(({ paymentId }) => paymentId),
    refunds: [...orders.values()].flatMap(({ refunds }) => refunds.map(({ refund_key }) => refund_key)),
  };
}

/** Every acknowledged creation gets the same response again, and its payments can be read. */
async function expectReplays(before: Journal): Promise<void> {
  const completed = before.entries.filter(
    ({ path, method, status }) => method === 'POST' && path === '/payments' && (status === 201 || status === 400),
  );
  for (const { key, status, text } of completed) {
    const again = await createUnder(key ?? '', key?.startsWith('shopeepay') ? 'shopeepay' : 'gopay');
    expect({ key, ...again }).toEqual({ key, status, text, isReplay: true });
  }
  for (const { id } of [...before.created().values()].flat()) {
    expect(await call('GET', `/payments/${id}`)).toMatchObject({ status: 200 });
  }
}

async function violations(): Promise<string[]> {
  const state = withoutLostDeliveries(await readStateNow());
  return INVARIANT_NAMES.flatMap((name) => ORACLE[name](state).violations.map((violation) => `${name}: ${violation}`));
}

async function createBeforeBackup() {
  await setPolicy('shopeepay', '--expires-in', '2s');
  await setPolicy('gopay', '--settlement-delay', '1s');
  const settled = await createSettled();
  const [expired, paidLate] = await Promise.all([createExpired(), createExpired()]);
  await setPolicy('gopay', '--settlement-delay', '1d');
  const payments = {
    settled,
    expired,
    paidLate,
    cancelled: await createCancelled(),
    refunded: await createRefunded(),
    refundFailed: await createRefundFailed(),
    retriedLater: await createRefundFailed(),
    paid: await createPaid(),
    paidLater: await create(),
    pending: await create(),
    cancelledLater: await create(),
    refundedLater: await createPaid(),
    heldLater: await createPaid(),
    confirmedLater: await createRefundProcessing(),
  };
  await createRejected();
  await setPolicy('gopay', '--settlement-delay', '45s');
  const settledLater = await create();
  const keyWithoutQr = await createWithoutQr();
  // The last step before the backup, so that the settlement and the webhook's retry follow after it.
  await withFailingWebhooks(1, async () => {
    await pay(settledLater);
    await waitForStatus(settledLater, 'paid');
  });
  return { payments: { ...payments, settledLater }, keyWithoutQr };
}

type Before = Awaited<ReturnType<typeof createBeforeBackup>>['payments'];

async function moveOn(before: Before) {
  await pay(before.paidLater);
  await pay(before.paidLate);
  await act(before.cancelledLater, 'cancel');
  await act(before.refundedLater, 'refund');
  await lunas('refunds', 'retry', before.retriedLater.id, '--note', 'the bank has been repaired');
  await waitForStatus(before.paidLater, 'paid');
  for (const payment of [before.refundedLater, before.retriedLater, before.confirmedLater]) {
    await waitForStatus(payment, 'refunded');
  }
  await createRejected();
  await setPolicy('gopay', '--settlement-delay', '1d');
  const after = {
    pending: await withFailingWebhooks(2, () => create()),
    paid: await createPaid(),
    cancelled: await createCancelled(),
    refunded: await createRefunded(),
    expired: await createExpired(),
  };
  await waitForStatus(before.settledLater, 'settled');
  await act(before.heldLater, 'refund');
  return after;
}

/** Steps 1 and 2. */
async function restorePostgres(): Promise<void> {
  await closeService();
  await service.restorePostgres();
  await service.startServices();
}

async function recoverUntilDone(since: Date): Promise<void> {
  for (let runs = 1; ; runs += 1) {
    const { exitCode, stderr } = await service.command(['recover', '--since', since.toISOString()]);
    if (exitCode === 0) return;
    if (runs === RUNS_OF_RECOVER) throw new Error(stderr);
  }
}

async function reconcileUntilDone(): Promise<void> {
  await eventually(
    () => service.command(['reconcile']),
    ({ exitCode }) => exitCode === 0,
  );
}

/** Steps 3 to 7. */
async function recoverService(backupAt: Date): Promise<void> {
  await setPolicy('gopay', '--settlement-delay', '1d');
  const moneyOut = await readMoneyOut();
  await lunas('recovery', 'begin', '--note', 'restored');
  await service.start('worker');
  await recoverUntilDone(backupAt);
  await expectNoneStranded();
  await reconcileUntilDone();
  expect(await readMoneyOut()).toEqual(moneyOut);
  await lunas('recovery', 'end', '--note', 'recovered and reconciled');
  await service.start('api');
}

type After = Awaited<ReturnType<typeof moveOn>>;

const expectedStatuses = (before: Before, issuedLater: Payment, after: After): readonly ExpectedStatus[] => [
  ['before settled', before.settled, 'settled'],
  ['before expired', before.expired, 'expired'],
  ['before paidLate', before.paidLate, 'expired'],
  ['before cancelled', before.cancelled, 'cancelled'],
  ['before refunded', before.refunded, 'refunded'],
  ['before refundFailed', before.refundFailed, 'refund_failed'],
  ['before retriedLater', before.retriedLater, 'refunded'],
  ['before paid', before.paid, 'paid'],
  ['before paidLater', before.paidLater, 'paid'],
  ['before cancelledLater', before.cancelledLater, 'cancelled'],
  ['before refundedLater', before.refundedLater, 'refunded'],
  ['before heldLater', before.heldLater, 'refunded'],
  ['before confirmedLater', before.confirmedLater, 'refunded'],
  ['before pending', before.pending, 'pending'],
  ['before settledLater', before.settledLater, 'settled'],
  ['before issuedLater', issuedLater, 'pending'],
  ['after pending', after.pending, 'pending'],
  ['after paid', after.paid, 'paid'],
  ['after cancelled', after.cancelled, 'cancelled'],
  ['after refunded', after.refunded, 'refunded'],
  ['after expired', after.expired, 'expired'],
];

it(
  'every payment exists again after the steps of the runbook, consistent with the provider',
  async () => {
    await openService();
    const { merchant_id } = service.run;
    const created = await lunas('webhooks', 'create', '--merchant', merchant_id, '--url', receiver.url);
    receiver.secret = endpointSchema.parse(created).endpoint.secret;
    const { payments: before, keyWithoutQr } = await createBeforeBackup();
    await closeService();
    const backupAt = new Date();
    await service.backUpPostgres();

    await openService();
    await simulate('DELETE', 'faults');
    await confirmRefundsAfter(1);
    const issuedLater = await repeatUntilCreated(keyWithoutQr);
    const after = await moveOn(before);
    const completed = journal.snapshot();

    await restorePostgres();
    const { records } = await readStateNow();
    expect(new Set(records.payments.map(({ status }) => status))).toEqual(new Set(PAYMENT_STATUSES));
    expect(
      records.deliveries.some(({ status, hasRetryWorkflow: handedOver }) => status === 'pending' && handedOver),
    ).toBe(true);
    await recoverService(backupAt);

    await eventually(
      () => differing(expectedStatuses(before, issuedLater, after)),
      (found) => found.length === 0,
    );
    await expectReplays(completed);
    await lunas('recover');
    await reconcileUntilDone();
    await lunas('ledger', 'verify');
    await expectNoneStranded();

    // Every open payment can become final.
    await lunas('refunds', 'retry', before.refundFailed.id, '--note', 'the bank has been repaired');
    for (const payment of [before.paid, before.paidLater, after.paid]) await act(payment, 'refund');
    for (const payment of [before.pending, issuedLater, after.pending]) await act(payment, 'cancel');
    await eventually(readStateNow, ({ records }) => records.deliveries.every(({ status }) => status === 'delivered'));
    await eventually(violations, (found) => found.length === 0);
  },
  TIMEOUT_MS,
);
