import { randomUUID } from 'node:crypto';
import { Client, Connection, WithStartWorkflowOperation, WorkflowIdConflictPolicy } from '@temporalio/client';
import { freePort } from '../src/local-stack/ports';
import { assertSameShape, runBareLifecycle } from './bare-lifecycle';
import type { BenchmarkHarness } from './harness';
import { Http } from './http';
import { closedLoop, times, type BenchmarkOperation } from './load-generator';
import { addEndpoint, BenchmarkMerchant, registerMerchant } from './merchant';
import { Meter, type Reading } from './meter';
import { noopUpdate, type noop } from './noop/workflow';
import { BenchmarkPayouts } from './payouts';

/** The duration of a measurement. */
export interface Measurement {
  readonly warmupSeconds: number;
  readonly seconds: number;
}

/** In the order of a round. */
export const BENCHMARKS = [
  'generator',
  'noop',
  'create',
  'bulk',
  'bareGet',
  'get',
  'replay',
  'bareLifecycle',
  'lifecycle',
  'payout',
  'barePost',
  'deliver',
] as const;
export type BenchmarkName = (typeof BENCHMARKS)[number];

/** Each call measures one benchmark. */
export type Benchmarks = Readonly<Record<BenchmarkName, (measurement: Measurement) => Promise<Reading>>>;

/** What is timed on an idle machine. */
export const TIMED_OPERATIONS = ['noop', 'create', 'paidToWebhook'] as const;
export type TimedOperation = (typeof TIMED_OPERATIONS)[number];
/** @returns the milliseconds that one operation took */
export type TimedOperations = Readonly<Record<TimedOperation, () => Promise<number>>>;

const CALLERS = 32;
/**
 * A lifecycle takes its settlement delay of at least one second.
 * So about as many have to be in flight as the API can create per second. With more, requests reach the API's deadline.
 */
const CONCURRENT_LIFECYCLES = { min: 24, max: 160 } as const;
/** With fewer creates per second, two concurrent bulks would come close to that deadline. */
const ENOUGH_FOR_TWO_BULKS = 20;
const BULK_ITEMS = 50;
const KNOWN_PAYMENTS = 200;
/** The bank of the sandbox takes a second, and notifies us twice a second. */
const CONCURRENT_PAYOUTS = 48;
const FANOUT_ENDPOINTS = 8;
/** As many as the relay has in flight for that number of endpoints. */
const CONCURRENT_POSTS = 64;

/** Starts the baselines, and prepares what the benchmarks need. */
export async function prepareBenchmarks(
  harness: BenchmarkHarness,
): Promise<{ benchmarks: Benchmarks; timed: TimedOperations; close(): Promise<void> }> {
  const connections = await startBaselines(harness);
  const merchants = await registerMerchants(harness, connections);
  const payouts = await BenchmarkPayouts.prepare(harness);
  await assertSameShape(connections.client, merchants.withWebhooks, harness.receiver);
  const benchmarks = defineBenchmarks(harness, connections, merchants, {
    ...(await createKnownPayments(merchants.withoutWebhooks)),
    payouts,
  });
  return {
    benchmarks,
    timed: timedOperations(harness, connections, merchants),
    async close() {
      const { client, api, sandbox, bare, poster } = connections;
      await Promise.all([api, sandbox, bare, poster].map((http) => http.close()));
      await Promise.all([client.connection.close(), payouts.close()]);
    },
  };
}

interface Connections {
  readonly client: Client;
  readonly api: Http;
  readonly sandbox: Http;
  readonly bare: Http;
  readonly poster: Http;
}

async function startBaselines(harness: BenchmarkHarness): Promise<Connections> {
  const { stack } = harness;
  await harness.startOther('noop', 'dist/bench/noop/worker.js', { FINISHED_URL: `${harness.receiver.url}/finished` });
  const [barePort, posterPort] = [String(await freePort()), String(await freePort())];
  const bareEnvironment = { DATABASE_URL: stack.databaseUrl, PORT: barePort };
  await harness.startOther('bare', 'dist/bench/bare/server.js', bareEnvironment);
  await harness.startOther('poster', 'dist/bench/bare/poster.js', { PORT: posterPort });
  return {
    client: new Client({ connection: Connection.lazy({ address: stack.temporalAddress }) }),
    api: new Http(stack.apiUrl),
    sandbox: new Http(stack.sandboxUrl),
    bare: new Http(`http://127.0.0.1:${barePort}`),
    poster: new Http(`http://127.0.0.1:${posterPort}`),
  };
}

type Merchants = Readonly<Record<'withoutWebhooks' | 'withWebhooks', BenchmarkMerchant>>;

async function registerMerchants(
  { stack: { databaseUrl }, masterKey, receiver }: BenchmarkHarness,
  { api, sandbox }: Connections,
): Promise<Merchants> {
  const receiverUrl = `${receiver.url}/lifecycles`;
  const ours = { databaseUrl, masterKey };
  return {
    withoutWebhooks: new BenchmarkMerchant(api, sandbox, await registerMerchant(ours)),
    withWebhooks: new BenchmarkMerchant(api, sandbox, await registerMerchant({ ...ours, receiverUrl })),
  };
}

interface KnownPayments {
  readonly ids: readonly string[];
  /** The idempotency key of the payment that the idempotent replay repeats. */
  readonly key: string;
  /** How many creates per second this machine can do, roughly. */
  readonly perSecond: number;
}

async function createKnownPayments(merchant: BenchmarkMerchant): Promise<KnownPayments> {
  const ids: string[] = [];
  const startedAt = performance.now();
  await times(KNOWN_PAYMENTS, 8, async () => void ids.push((await merchant.create()).id));
  const perSecond = Math.round((KNOWN_PAYMENTS * 1_000) / (performance.now() - startedAt));
  const key = randomUUID();
  await merchant.replay(key);
  return { ids, key, perSecond };
}

function defineBenchmarks(
  harness: BenchmarkHarness,
  { client, bare, poster }: Connections,
  merchants: Merchants,
  { ids, key, perSecond, payouts }: KnownPayments & { readonly payouts: BenchmarkPayouts },
): Benchmarks {
  const { receiver } = harness;
  const concurrentLifecycles = Math.min(Math.max(perSecond, CONCURRENT_LIFECYCLES.min), CONCURRENT_LIFECYCLES.max);
  const anyKnownId = (): string => ids[Math.floor(Math.random() * ids.length)] ?? '';
  const loop =
    (operation: BenchmarkOperation, concurrency = CALLERS, items = 1) =>
    (measurement: Measurement) =>
      closedLoop(operation, { ...measurement, concurrency, items }, new Meter(harness.processes));
  const lifecycleOf = (merchant: BenchmarkMerchant): BenchmarkOperation => {
    return async () => receiver.lifecycle((await merchant.createAndPay()).id);
  };
  const bulks = perSecond < ENOUGH_FOR_TWO_BULKS ? 1 : 2;
  return {
    generator: loop(async () => void (await bare.send('GET', '/nothing', {}))),
    noop: loop(() => updateWithStart(client)),
    create: loop(() => merchants.withoutWebhooks.createOnly()),
    bulk: loop(() => merchants.withoutWebhooks.createBulk(BULK_ITEMS), bulks, BULK_ITEMS),
    bareGet: loop(async () => void (await bare.send('GET', `/payments/${anyKnownId()}`, {}))),
    get: loop(() => merchants.withoutWebhooks.get(anyKnownId())),
    replay: loop(() => merchants.withoutWebhooks.replay(key)),
    bareLifecycle: settled(loop(async () => void (await runBareLifecycle(client, receiver)), concurrentLifecycles)),
    lifecycle: settled(loop(lifecycleOf(merchants.withWebhooks), concurrentLifecycles)),
    payout: settled(loop(() => payouts.payOut(), CONCURRENT_PAYOUTS)),
    barePost: ({ seconds }) => {
      const body = JSON.stringify({ id: randomUUID(), event: 'payment.created', padding: 'x'.repeat(420) });
      return sinkRate(harness, Math.round(seconds * 1_000), async (count) => {
        const order = { url: `${receiver.url}/sink`, body, count, concurrency: CONCURRENT_POSTS };
        await poster.send('POST', '/', {}, JSON.stringify(order));
      });
    },
    deliver: ({ seconds }) => sinkRate(harness, Math.round(seconds * 400), (count) => fillOutbox(harness, count)),
  };
}

function timedOperations(
  { receiver }: BenchmarkHarness,
  { client }: Connections,
  { withoutWebhooks, withWebhooks }: Merchants,
): TimedOperations {
  const timed = (operation: BenchmarkOperation) => async (): Promise<number> => {
    const startedAt = performance.now();
    await operation();
    return performance.now() - startedAt;
  };
  return {
    noop: timed(() => updateWithStart(client)),
    create: timed(() => withoutWebhooks.createOnly()),
    async paidToWebhook() {
      const payment = await withWebhooks.create();
      const arrived = receiver.paid(payment.id);
      return timed(async () => {
        await withWebhooks.pay(payment);
        await arrived;
      })();
    },
  };
}

async function updateWithStart(client: Client): Promise<void> {
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof noop>('noop', {
    workflowId: `noop-${randomUUID()}`,
    taskQueue: 'bench-noop',
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    args: [],
  });
  await client.workflow.executeUpdateWithStart(noopUpdate, { startWorkflowOperation });
}

/** The rate of lifecycles is steady only after some seconds, so their warm-up is longer. */
function settled(measure: (measurement: Measurement) => Promise<Reading>) {
  return ({ warmupSeconds, seconds }: Measurement) =>
    measure({ warmupSeconds: warmupSeconds + 2, seconds: seconds + 2 });
}

/** How fast `count` posts reach the receiver's sink, from the first to the last. */
async function sinkRate(
  harness: BenchmarkHarness,
  count: number,
  start: (count: number) => Promise<void>,
): Promise<Reading> {
  const meter = new Meter(harness.processes);
  const done = harness.receiver.sink(count, () => meter.start());
  await start(count);
  await done;
  return meter.stop(count - 1);
}

/** Inserts deliveries of existing events to new endpoints. The relay finds all of them in one scan. */
async function fillOutbox(harness: BenchmarkHarness, count: number): Promise<void> {
  const { stack, masterKey, db, receiver } = harness;
  const merchantId = stack.prepared.merchantId;
  const urls = Array.from({ length: FANOUT_ENDPOINTS }, () => `${receiver.url}/sink`);
  const endpointIds = await Promise.all(urls.map((url) => addEndpoint(stack.databaseUrl, masterKey, merchantId, url)));
  const { rowCount } = await db.query(
    `insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status)
     select gen_random_uuid(), event.payment_id, event.payment_version, endpoint_id, $1, event.event, 'pending'
     from (select payment_id, payment_version, event from webhook_events limit $3) event,
       unnest($2::uuid[]) endpoint_id`,
    [merchantId, endpointIds, count / FANOUT_ENDPOINTS],
  );
  if (rowCount !== count) throw new Error(`${rowCount} deliveries were made, not ${count}`);
}
