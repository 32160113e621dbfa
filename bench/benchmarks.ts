import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, WorkflowIdConflictPolicy, type Client } from '@temporalio/client';
import { connectClient, temporalTarget } from '../src/temporal/connection';
import { freePort } from '../src/local-stack/ports';
import { Http } from './http';
import { closedLoop, times, type BenchmarkOperation } from './load-generator';
import { addEndpoint, BenchmarkMerchant, registerMerchant } from './merchant';
import { Meter, type Reading } from './meter';
import { noopUpdate, type noop } from './noop/workflow';
import type { BenchmarkHarness } from './harness';

/** How long each measurement takes. */
export interface Measurement {
  readonly warmupSeconds: number;
  readonly seconds: number;
}

/** In the order of a round. */
export const BENCHMARKS = [
  'generator',
  'noop',
  'create',
  'dbosCreate',
  'bulk',
  'bareGet',
  'get',
  'replay',
  'lifecycle',
  'dbosLifecycle',
  'barePost',
  'deliver',
] as const;
export type BenchmarkName = (typeof BENCHMARKS)[number];

/** What is measured, each by one call. */
export type Benchmarks = Readonly<Record<BenchmarkName, (measurement: Measurement) => Promise<Reading>>>;

const CALLERS = 32;
/**
 * A life takes its settlement delay of a second and more, so that about as many have to be under way as can be created in a
 * second; on a machine where that is little, more would only wait for each other until the API's deadline.
 */
const CONCURRENT_LIFECYCLES = { min: 24, max: 160 } as const;
/** Below so many creates a second two bulks at once would come close to that deadline, too. */
const ENOUGH_FOR_TWO_BULKS = 20;
const BULK_ITEMS = 50;
const KNOWN_PAYMENTS = 200;
const FANOUT_ENDPOINTS = 8;
/** As many as the relay has under way for so many endpoints. */
const CONCURRENT_POSTS = 64;

/** Starts the peers, and makes ready whatever the subjects need. */
export async function prepareBenchmarks(
  harness: BenchmarkHarness,
): Promise<{ benchmarks: Benchmarks; close(): Promise<void> }> {
  const { stack, masterKey, receiver } = harness;
  const { databaseUrl } = stack;
  await harness.startOther('noop', 'dist/bench/noop/worker.js', {});
  const dbos = await startDbos(harness);
  const barePort = await freePort();
  await harness.startOther('bare', 'dist/bench/bare/server.js', { DATABASE_URL: databaseUrl, PORT: String(barePort) });
  const posterPort = await freePort();
  await harness.startOther('poster', 'dist/bench/bare/poster.js', { PORT: String(posterPort) });

  const client = connectClient(temporalTarget(harness.config, stack.temporalAddress));
  const [api, sandbox, dbosApi] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl), new Http(dbos.url)];
  const bare = new Http(`http://127.0.0.1:${barePort}`);
  const poster = new Http(`http://127.0.0.1:${posterPort}`);
  const receiverUrl = `${receiver.url}/lifecycles`;
  const withoutWebhooks = new BenchmarkMerchant(api, sandbox, await registerMerchant({ databaseUrl, masterKey }));
  const withWebhooks = new BenchmarkMerchant(
    api,
    sandbox,
    await registerMerchant({ databaseUrl, masterKey, receiverUrl }),
  );
  const dbosSetup = { databaseUrl: dbos.databaseUrl, masterKey };
  const dbosWithoutWebhooks = new BenchmarkMerchant(dbosApi, sandbox, await registerMerchant(dbosSetup));
  const dbosWithWebhooks = new BenchmarkMerchant(
    dbosApi,
    sandbox,
    await registerMerchant({ ...dbosSetup, receiverUrl }),
  );

  const known: string[] = [];
  const startedAt = performance.now();
  await times(KNOWN_PAYMENTS, 8, async () => void known.push((await withoutWebhooks.create()).id));
  const perSecond = Math.round((KNOWN_PAYMENTS * 1_000) / (performance.now() - startedAt));
  const concurrentLifecycles = Math.min(Math.max(perSecond, CONCURRENT_LIFECYCLES.min), CONCURRENT_LIFECYCLES.max);
  const anyKnownId = (): string => known[Math.floor(Math.random() * known.length)] ?? '';
  const key = randomUUID();
  await withoutWebhooks.replay(key);

  const loop =
    (operation: BenchmarkOperation, concurrency = CALLERS, items = 1) =>
    (measurement: Measurement) =>
      closedLoop(operation, { ...measurement, concurrency, items }, new Meter(harness.processes));
  const lifecycleOf = (merchant: BenchmarkMerchant): BenchmarkOperation => {
    return async () => receiver.lifecycle((await merchant.createAndPay()).id);
  };

  /** DBOS asks its database for work all the time: it stands still while others are measured. */
  const ofDbos = (measure: (measurement: Measurement) => Promise<Reading>) => (measurement: Measurement) => {
    harness.resume('dbos');
    return measure(measurement).finally(() => harness.pause('dbos'));
  };
  harness.pause('dbos');

  const benchmarks: Benchmarks = {
    generator: loop(async () => void (await bare.send('GET', '/nothing', {}))),
    noop: loop(() => updateWithStart(client)),
    create: loop(() => withoutWebhooks.createOnly()),
    dbosCreate: ofDbos(loop(() => dbosWithoutWebhooks.createOnly())),
    bulk: loop(() => withoutWebhooks.createBulk(BULK_ITEMS), perSecond < ENOUGH_FOR_TWO_BULKS ? 1 : 2, BULK_ITEMS),
    bareGet: loop(async () => void (await bare.send('GET', `/payments/${anyKnownId()}`, {}))),
    get: loop(() => withoutWebhooks.get(anyKnownId())),
    replay: loop(() => withoutWebhooks.replay(key)),
    lifecycle: settled(loop(lifecycleOf(withWebhooks), concurrentLifecycles)),
    dbosLifecycle: ofDbos(settled(loop(lifecycleOf(dbosWithWebhooks), concurrentLifecycles))),
    barePost: ({ seconds }) => {
      const body = JSON.stringify({ id: randomUUID(), event: 'payment.created', padding: 'x'.repeat(420) });
      return sinkRate(harness, Math.round(seconds * 1_000), async (count) => {
        const order = { url: `${receiver.url}/sink`, body, count, concurrency: CONCURRENT_POSTS };
        await poster.send('POST', '/', {}, JSON.stringify(order));
      });
    },
    deliver: ({ seconds }) => sinkRate(harness, Math.round(seconds * 400), (count) => fillOutbox(harness, count)),
  };
  return {
    benchmarks,
    async close() {
      harness.resume('dbos');
      await Promise.all([api, sandbox, bare, poster, dbosApi].map((http) => http.close()));
      await client.connection.close();
    },
  };
}

async function startDbos(harness: BenchmarkHarness): Promise<{ url: string; databaseUrl: string }> {
  const databaseUrl = await harness.newDatabase('lunas_dbos');
  await harness.prepareDatabase(databaseUrl);
  const port = await freePort();
  await harness.startOther('dbos', 'bench/dbos/baseline.mjs', {
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    DBOS_DATABASE_URL: await harness.newDatabase('dbos_system'),
    LUNAS_MASTER_KEY: harness.masterKey,
    RATE_LIMIT_PER_MINUTE: '1000000',
    LOG_LEVEL: 'info',
  });
  return { url: `http://127.0.0.1:${port}`, databaseUrl };
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

/** Lives take a while to come into step: they are warmed up for longer. */
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

/** Deliveries of what has happened, to endpoints that are new: the relay finds them all at once. */
async function fillOutbox(harness: BenchmarkHarness, count: number): Promise<void> {
  const { stack, masterKey, db, receiver } = harness;
  const merchantId = stack.prepared.merchantId;
  const urls = Array.from({ length: FANOUT_ENDPOINTS }, () => `${receiver.url}/sink`);
  const endpointIds = await Promise.all(urls.map((url) => addEndpoint(stack.databaseUrl, masterKey, merchantId, url)));
  const { rowCount } = await db.query(
    `insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, status)
     select gen_random_uuid(), event.payment_id, event.payment_version, endpoint_id, $1, 'pending'
     from (select payment_id, payment_version from webhook_events limit $3) event, unnest($2::uuid[]) endpoint_id`,
    [merchantId, endpointIds, count / FANOUT_ENDPOINTS],
  );
  if (rowCount !== count) throw new Error(`${rowCount} deliveries were made, not ${count}`);
}
