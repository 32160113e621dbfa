import { randomBytes, randomUUID } from 'node:crypto';
import type { ActivityDependencies } from '../../../activities/dependencies';
import { deleteExpired, recordRetention } from '../../../activities/retention';
import { createSealer, sealedPrefix } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { readBusinessGauges } from '../../../src/db/operations/business-gauges';
import { listRecordedCases } from '../../../src/db/operations/list-attention';
import { listProviderAccountIds } from '../../../src/db/operations/list-for-reconciliation';
import { findCreationResult } from '../../../src/db/payments/find-creation-result';
import { findOriginalResponse, findOriginalResponses } from '../../../src/db/payments/find-original-response';
import { findMerchantPayment } from '../../../src/db/payments/find-payment';
import { listMerchantPayments } from '../../../src/db/payments/list-payments';
import { eraseDetails } from '../../../src/db/payments/payment-details';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import { PAYMENT_STATUSES } from '../../../src/domain/payment-transitions';
import { planReconciliation, type ReconciliationPart } from '../../../src/domain/reconciliation';
import {
  EXPIRING_DATA,
  type ExpiringData,
  type RetentionPosition,
  type RetentionRun,
} from '../../../src/domain/retention';
import { COUNT_LIMIT } from '../../../src/observability/definitions';
import { createLogger } from '../../../src/observability/logger';
import { listExceptions } from '../../../src/services/payments/exceptions';
import { listOverduePayments, listPayments, listPaymentsOfAmount } from '../../../src/services/payments/list-payments';
import { listStuckRefunds } from '../../../src/services/payments/list-stuck-refunds';
import { reconcileBatch } from '../../../src/services/reconciliation/compare-payments';
import { recover } from '../../../src/services/recovery/recover';
import { resealAll } from '../../../src/services/recovery/reseal';
import { redeliverRange } from '../../../src/services/webhooks/webhook-redelivery';
import { BoundedClient } from '../../../src/temporal/bounded-client';
import { connectClient } from '../../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../../src/temporal/payload-codec';
import { PaymentWorkflowClient } from '../../../src/temporal/payment-workflow-client';
import { requireTemporal } from '../../../src/temporal/requirements';
import { RetryWorkflowClient } from '../../../src/temporal/retry-workflow-client';
import { WorkflowRecords } from '../../../src/temporal/workflow-records';
import { readOutboxGauges } from '../../../src/webhooks/outbox-gauges';
import { Relay } from '../../../src/webhooks/relay';
import { startSweeper } from '../../../src/worker/sweeper';
import { activityDependencies } from '../../support/activity-dependencies';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { expandBodyOf } from '../../support/expand-body';
import { explainQueries, type ExplainedStatement } from '../../support/explain';
import { BUSY_ENDPOINT, fillDatabase, FINAL, OPEN, PENDING_DELIVERIES } from '../../support/fill-database';
import { creation, newTerms } from '../../support/payments';
import { temporalAddress } from '../../support/temporal';
import { disable } from '../../support/webhooks';

const MAX_BUFFERS = 5_000;
const ONE_PAGE = { durationMs: 0, stopSignal: new AbortController().signal };
const log = createLogger('test', 'silent');

const sealer = createSealer(randomBytes(32).toString('base64'));

let database: TestDatabase;
let plain: Pool;
let db: Pool;
let explained: ExplainedStatement[];
let workflows: WorkflowClientWithoutWorkflows;

class FakeRetries extends RetryWorkflowClient {
  queries = 0;
  /** The first ones are lost. */
  override isRunning = () => Promise.resolve((this.queries += 1) > 3);
  override async *listDeliveryIds() {
    const { rows } = await plain.query<{ id: string }>('select gen_random_uuid() as id from generate_series(1, 500)');
    for (const { id } of rows) yield id;
  }
  override terminate = () => Promise.resolve();
}

class FakeRecords extends WorkflowRecords {
  override readCreation = () => Promise.reject(new Error('not part of this'));
  override describe = () => Promise.resolve(null);
  override async list() {
    const { rows } = await plain.query<{ id: string }>(
      "select md5('payment' || n)::uuid as id from generate_series(1, 500) n",
    );
    const items = rows.map(({ id }) => ({ workflowId: `payment-${id}`, paymentId: id, isRunning: true }));
    return { items, next: null };
  }
}

/** Every workflow exists, and each call returns immediately: the test is about PostgreSQL. */
class WorkflowClientWithoutWorkflows extends PaymentWorkflowClient {
  override readonly retries: FakeRetries;
  override readonly records: FakeRecords;
  constructor(client: BoundedClient) {
    super(client);
    this.retries = new FakeRetries(client);
    this.records = new FakeRecords(client);
  }
  override resumePayment = () => Promise.resolve('running' as const);
  override resumeLatePayment = () => Promise.resolve('running' as const);
  override signalProviderUpdate = () => Promise.resolve('no_workflow' as const);
  override signalLatePayment = () => Promise.resolve();
}

beforeAll(async () => {
  database = await createTestDatabase();
  plain = createPool(database.url, { max: 8, statementTimeoutMs: 600_000 });
  await plain.query(
    `insert into policies (id, provider, channel, version, fee_basis_points, fee_flat_rupiah, settlement_kind,
       settlement_delay_seconds, expires_in_seconds)
     values (gen_random_uuid(), 'gopay', 'qris', 1, 70, 0, 'automatic', 86400, 900)`,
  );
  await plain.query(
    `insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key)
     values (gen_random_uuid(), 'gopay', 'midtrans', 'http://127.0.0.1:9', 'none')`,
  );
  await fillDatabase(plain, sealedPrefix(sealer));
  const target = { address: temporalAddress(), namespace: 'default', security: {} };
  const client = connectClient(target, NO_PAYLOAD_KEYS);
  await requireTemporal({ client, target }, createLogger('test', 'silent'));
  workflows = new WorkflowClientWithoutWorkflows(new BoundedClient(client));
}, 3_600_000);

afterAll(async () => {
  await workflows.close();
  await plain.end();
  await database.drop();
});

beforeEach(() => {
  workflows.retries.queries = 0;
  ({ db, explained } = explainQueries(plain));
});

/** The statements that read too much, with their plans. `SHOW_BUFFERS=1` prints what each statement read. */
function overBound(): string[] {
  if (explained.length === 0) throw new Error('No statement was explained');
  const worst = new Map<string, ExplainedStatement>();
  for (const each of explained) {
    const key = `${each.statement} (${each.planMode})`;
    if (each.buffers >= (worst.get(key)?.buffers ?? 0)) worst.set(key, each);
  }
  if (process.env.SHOW_BUFFERS === '1') {
    console.log([...worst].map(([name, { buffers }]) => `${buffers}\t${name}`).join('\n'));
  }
  return [...worst]
    .filter(([, { buffers }]) => buffers >= MAX_BUFFERS)
    .map(([name, { buffers, plan }]) => `${buffers} buffers: ${name}\n${plan}`);
}

/** The first step of a new payment with an idempotency key. */
async function newCreation(merchantId: string): Promise<ReturnType<typeof creation>> {
  const { rows } = await plain.query<{ policyId: string; providerAccountId: string }>(
    `select policies.id as "policyId", provider_accounts.id as "providerAccountId" from policies, provider_accounts`,
  );
  const { policyId = '', providerAccountId = '' } = rows[0] ?? {};
  return creation(newTerms({ merchantId, policyId, providerAccountId, idempotencyKey: randomUUID() }), new Date());
}

/** The four statements of a payment that is paid and settled. */
async function settleNewPayment(pool: Pool, input: ReturnType<typeof creation>): Promise<void> {
  const { paymentId } = input.terms;
  const context = { db: pool, environment: 'sandbox', onDeliveries: () => undefined };
  const at = (seconds: number) => new Date(input.createdAtMs + seconds * 1_000);
  await transitionWriters.create(context, input);
  const issued = { qrisPayload: '0'.repeat(200), providerTransactionId: paymentId };
  await transitionWriters.issue(context, { paymentId, version: 1, at: at(1), ...issued });
  await transitionWriters.pay(context, { paymentId, version: 2, at: at(2), paidAt: at(2) });
  const { outcome } = await transitionWriters.settle(context, { paymentId, version: 3, at: at(3) });
  expect(outcome).toBe('applied');
}

it('create, GET, list, replay and the transitions of a payment read few buffers in each statement', async () => {
  const { rows } = await plain.query<{ id: string; merchant: string; other: string }>(
    `select md5('payment' || ${FINAL})::uuid as id, md5('merchant' || 1 + ${FINAL} % 200)::uuid as merchant,
       md5('merchant' || 1)::uuid as other`,
  );
  const { id = '', merchant = '', other = '' } = rows[0] ?? {};
  await settleNewPayment(db, await newCreation(other));
  expect(await findMerchantPayment(db, merchant, { id })).toBeDefined();
  expect(await findOriginalResponse(db, id)).toMatchObject({ original: { status: 'pending' } });
  expect((await findOriginalResponses(db, [id])).size).toBe(1);
  expect(await findCreationResult(db, id)).toMatchObject({ outcome: 'issued' });
  const newest = await listMerchantPayments(db, { merchantId: merchant }, 100);
  expect(newest).toHaveLength(100);
  await listMerchantPayments(db, { merchantId: merchant, after: newest[99] }, 100);
  const createdTo = new Date(Date.now() - 7 * 86_400_000);
  expect(await listMerchantPayments(db, { merchantId: merchant, createdTo }, 100)).toHaveLength(100);
  for (const status of PAYMENT_STATUSES) await listMerchantPayments(db, { merchantId: merchant, status }, 100);
  expect(await listMerchantPayments(db, { merchantId: merchant, provider: 'shopeepay' }, 100)).toEqual([]);
  expect(await listMerchantPayments(db, { merchantId: merchant, merchantReferenceId: 'none' }, 100)).toEqual([]);
  expect(overBound()).toEqual([]);
});

it('recovery reads few buffers in each statement', async () => {
  const { payments } = await recover({ db, environment: 'sandbox', onDeliveries: () => undefined }, workflows);
  expect(payments.running).toBe(OPEN);
  expect(overBound()).toEqual([]);
});

/** An order that no account knows: every open payment is a suspect, and is followed up. */
const provider = {
  issueQris: unused,
  expirePayment: unused,
  cancelPayment: unused,
  refundPayment: unused,
  verifyNotification: () => ({ outcome: 'malformed' as const }),
  findPayment: () => Promise.resolve({ outcome: 'not_found' as const }),
};
const providers = {
  forAccount: () => Promise.resolve(provider),
  findAccount: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
};

function unused(): Promise<never> {
  return Promise.reject(new Error('reconciliation only reads'));
}

it('reconciliation reads few buffers in each statement, at the first page and in the middle', async () => {
  const since = Date.now() - 30 * 86_400_000;
  const times = { changedSinceMs: since, lastStartMs: since, startedAtMs: Date.now() };
  const parts = planReconciliation(await listProviderAccountIds(db), times);
  const scans = ['open', 'final', 'late', 'deliveries', 'workflows'] as const;
  for (const scan of scans) {
    const part = parts.find(({ accountId }) => (accountId === null) === !['open', 'final'].includes(scan));
    if (!part) throw new Error(`No part has the scan ${scan}`);
    const first: ReconciliationPart = { ...part, position: { scan, after: null } };
    const { next, coverage } = await reconcileBatch({ db, providers, workflows }, first, ONE_PAGE);
    expect(coverage.seen).toBeGreaterThan(0);
    if (next) await reconcileBatch({ db, providers, workflows }, { ...part, position: next }, ONE_PAGE);
  }
  expect(overBound()).toEqual([]);
}, 300_000);

it('the sweeper reads few buffers in each statement', async () => {
  const sweeper = startSweeper({ db, providers, workflows, log });
  await eventually(
    () => Promise.resolve(explained.filter(({ statement }) => statement === 'find_final_payment').length),
    (count) => count > 0,
  );
  await sweeper.stop();
  expect(overBound()).toEqual([]);
});

it('the relay reads few buffers in each statement', async () => {
  let sent = 0;
  const outcomes = [{ statusCode: 200 }, { statusCode: 500 }, { statusCode: 410 }];
  const relay = new Relay({
    db,
    maxInFlight: 256,
    sealer,
    expandBody: expandBodyOf(db, sealer),
    sender: {
      send: async () => {
        const { statusCode } = outcomes[(sent += 1) % 50 === 0 ? 2 : sent % 2] ?? { statusCode: 200 };
        const failure = statusCode === 200 ? null : 'planted';
        return {
          startedAt: new Date(),
          durationMs: 1,
          statusCode,
          failure,
          responseExcerpt: '',
          retryAfterSeconds: null,
        };
      },
      close: () => Promise.resolve(),
    },
    startRetryWorkflow: () => Promise.resolve(),
    log,
  });
  const names = ['claim_deliveries', 'record_delivered', 'record_failed', 'mark_batch_dead'];
  await eventually(
    () => Promise.resolve(new Set(explained.map(({ statement }) => statement))),
    (seen) => names.every((name) => seen.has(name)),
  );
  await relay.stop();
  expect(overBound()).toEqual([]);
});

it('the gauges of the metrics read few buffers in each statement', async () => {
  const samples = [...(await readOutboxGauges(db)), ...(await readBusinessGauges(db))];
  const value = (name: string) =>
    Math.max(...samples.filter((sample) => sample.name === name).map(({ value }) => value));
  expect(value('lunas_webhook_outbox_pending')).toBe(COUNT_LIMIT);
  expect(value('lunas_payments_open')).toBe(COUNT_LIMIT);
  expect(value('lunas_notifications_open')).toBe(COUNT_LIMIT);
  expect(overBound()).toEqual([]);
});

it("the operators' lists read few buffers", async () => {
  const { rows } = await plain.query<{ id: string }>("select md5('merchant' || 7)::uuid as id");
  for (const status of PAYMENT_STATUSES) {
    await listPayments(db, { status, limit: 20 });
    await listPayments(db, { status, merchantId: rows[0]?.id, limit: 20 });
  }
  await listPayments(db, { limit: 20 });
  await listPayments(db, { createdTo: new Date('2026-01-31T00:00:00Z'), limit: 20 });
  expect(await listPayments(db, { merchantReferenceId: 'none', limit: 20 })).toEqual([]);
  await listPaymentsOfAmount(db, { merchantId: rows[0]?.id, totalRupiah: 1, limit: 20 });
  expect(await listOverduePayments(db, { limit: 20 })).toHaveLength(20);
  expect(await listStuckRefunds(db, 100)).toHaveLength(100);
  expect((await listRecordedCases(db, 100)).length).toBeGreaterThanOrEqual(100);
  for (const onlyOpen of [true, false]) expect(await listExceptions(db, { onlyOpen, limit: 100 })).toHaveLength(100);
  expect(overBound()).toEqual([]);
});

it('an endpoint with many pending deliveries can be disabled, and they can be redelivered', async () => {
  const { rows } = await plain.query<{ id: string }>(`select ${BUSY_ENDPOINT} as id`);
  const id = rows[0]?.id ?? '';
  await plain.query("update webhook_endpoints set status = 'enabled', disabled_reason = null where id = $1", [id]);
  expect(await disable(db, id)).toMatchObject({ status: 'disabled', pending: 0 });
  const dead = await plain.query(
    "select count(*) as dead from webhook_deliveries where endpoint_id = $1 and status = 'dead'",
    [id],
  );
  expect(dead.rows[0].dead).toBeGreaterThan(PENDING_DELIVERIES * 0.99);
  await plain.query("update webhook_endpoints set status = 'enabled' where id = $1", [id]);
  const { rows: times } = await plain.query<{ since: Date }>(
    'select min(created_at) as since from webhook_deliveries where endpoint_id = $1',
    [id],
  );
  const since = times[0]?.since ?? new Date();
  const { redelivered } = await redeliverRange(db, { since, until: new Date(since.getTime() + 20_000) });
  expect(redelivered).toBeGreaterThan(15_000);
  expect(overBound()).toEqual([]);
}, 900_000);

/** The rows of two days. The retention of the second day ends one day after that of the first. */
const OLD_ROWS = [
  `insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
   select md5('payment' || n)::uuid, 2, 'payment.created', '{}', now() - interval '100 days' + n * interval '1 second'
   from generate_series(1, 170000) n`,
  `update webhook_deliveries set created_at = now() - interval '100 days' + n * interval '2 seconds'
   from generate_series(1, 85000) n where id = md5('delivery' || ${PENDING_DELIVERIES} + 200000 + n)::uuid`,
  `update provider_notifications set received_at = now() - interval '100 days' + n * interval '1 second'
   from (select id as old, row_number() over (order by id) as n from provider_notifications limit 170000) numbered
   where id = old`,
  `update payment_details set created_at = now() - interval '1835 days' + n * interval '1 second'
   from (select id, n from generate_series(1, 170000) n, lateral (select md5('payment' || n)::uuid as id) of_n) numbered
   where payment_id = id`,
] as const;

/** A run of the job at this time, with the activities that the workflow calls. */
async function runRetention(dependencies: ActivityDependencies, nowMs: number): Promise<RetentionRun> {
  const deletions: { data: ExpiringData; deleted: number; position: RetentionPosition | null }[] = [];
  for (const data of EXPIRING_DATA) {
    let batch = await deleteExpired(dependencies, { data, nowMs });
    let [deleted, firstKept] = [batch.deleted, batch.firstKept];
    while (!batch.isDone) {
      batch = await deleteExpired(dependencies, { data, nowMs, ...(batch.reached && { from: batch.reached }) });
      deleted += batch.deleted;
      firstKept ??= batch.firstKept;
    }
    deletions.push({ data, deleted, position: firstKept ?? batch.reached });
  }
  const run = {
    startedAtMs: nowMs,
    isComplete: true,
    deleted: Object.fromEntries(deletions.map(({ data, deleted }) => [data, deleted])),
    positions: Object.fromEntries(deletions.flatMap(({ data, position }) => (position ? [[data, position]] : []))),
  };
  await recordRetention(dependencies, run);
  return run;
}

it('retention reads few buffers in each statement, also a day after it deleted the rows of a day', async () => {
  const client = await plain.connect();
  await client.query('set session_replication_role = replica');
  for (const statement of OLD_ROWS) await client.query(statement);
  client.release(true);
  const daysAgo = (days: number) => Date.now() - days * 86_400_000;
  for (const days of [9, 8]) {
    ({ db, explained } = explainQueries(plain));
    const context = { db, environment: 'sandbox', onDeliveries: () => undefined } as const;
    const { deleted } = await runRetention(activityDependencies(context, provider), daysAgo(days));
    const { webhook_deliveries, webhook_events, provider_notifications, payment_details } = deleted;
    for (const count of [webhook_events, provider_notifications, payment_details])
      expect(count).toBeGreaterThan(80_000);
    expect(webhook_deliveries).toBeGreaterThan(40_000);
    expect(overBound()).toEqual([]);
  }
}, 600_000);

it('an erasure and a change of the master key read few buffers in each statement', async () => {
  const { rows } = await plain.query<{ id: string }>(`select md5('payment' || ${FINAL + OPEN - 1})::uuid as id`);
  await eraseDetails(db, rows[0]?.id ?? '');
  await plain.query('update provider_accounts set sealed_server_key = $1', [`${sealedPrefix(sealer)}x`]);
  expect(await resealAll(db, sealer, () => undefined)).toContainEqual({ table: 'payment_details', resealed: 0 });
  expect(overBound()).toEqual([]);
}, 600_000);
