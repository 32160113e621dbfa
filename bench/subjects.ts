import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, WorkflowIdConflictPolicy, type Client } from '@temporalio/client';
import { connectClient, temporalTarget } from '../src/engine/connection';
import { freePort } from '../src/embedded/ports';
import { Http } from './http';
import { closedLoop, times, type Operation } from './load';
import { addEndpoint, Merchant, registerMerchant } from './merchant';
import { Meter, type Reading } from './meter';
import { noopUpdate, type noop } from './noop/workflow';
import type { Rig } from './rig';

/** How long each measurement takes. */
export interface Stretch {
  readonly warmupSeconds: number;
  readonly seconds: number;
}

/** In the order of a round. */
export const SUBJECTS = [
  'generator',
  'noop',
  'create',
  'dbosCreate',
  'bulk',
  'bareGet',
  'get',
  'replay',
  'life',
  'dbosLife',
  'barePost',
  'deliver',
] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** What is measured, each by one call. */
export type Subjects = Readonly<Record<SubjectName, (stretch: Stretch) => Promise<Reading>>>;

const CALLERS = 32;
/**
 * A life takes its settlement delay of a second and more, so that about as many have to be under way as can be created in a
 * second; on a machine where that is little, more would only wait for each other until the API's deadline.
 */
const LIVES_UNDER_WAY = { fewest: 24, most: 160 } as const;
/** Below so many creates a second two bulks at once would come close to that deadline, too. */
const ENOUGH_FOR_TWO_BULKS = 20;
const BULK_ITEMS = 50;
const KNOWN_PAYMENTS = 200;
const FANOUT_ENDPOINTS = 8;
/** As many as the relay has under way for so many endpoints. */
const POSTS_UNDER_WAY = 64;

/** Starts the peers, and makes ready whatever the subjects need. */
export async function prepareSubjects(rig: Rig): Promise<{ subjects: Subjects; close(): Promise<void> }> {
  const { stack, masterKey, receiver } = rig;
  const { databaseUrl } = stack;
  await rig.startOther('noop', 'dist/bench/noop/worker.js', {});
  const dbos = await startDbos(rig);
  const barePort = await freePort();
  await rig.startOther('bare', 'dist/bench/bare/server.js', { DATABASE_URL: databaseUrl, PORT: String(barePort) });
  const posterPort = await freePort();
  await rig.startOther('poster', 'dist/bench/bare/poster.js', { PORT: String(posterPort) });

  const client = connectClient(temporalTarget(rig.config, stack.temporalAddress));
  const [api, sandbox, peer] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl), new Http(dbos.url)];
  const bare = new Http(`http://127.0.0.1:${barePort}`);
  const poster = new Http(`http://127.0.0.1:${posterPort}`);
  const receiverUrl = `${receiver.url}/lives`;
  const quiet = new Merchant(api, sandbox, await registerMerchant({ databaseUrl, masterKey }));
  const told = new Merchant(api, sandbox, await registerMerchant({ databaseUrl, masterKey, receiverUrl }));
  const theirs = { databaseUrl: dbos.databaseUrl, masterKey };
  const quietPeer = new Merchant(peer, sandbox, await registerMerchant(theirs));
  const toldPeer = new Merchant(peer, sandbox, await registerMerchant({ ...theirs, receiverUrl }));

  const known: string[] = [];
  const startedAt = performance.now();
  await times(KNOWN_PAYMENTS, 8, async () => void known.push((await quiet.create()).id));
  const perSecond = Math.round((KNOWN_PAYMENTS * 1_000) / (performance.now() - startedAt));
  const livesUnderWay = Math.min(Math.max(perSecond, LIVES_UNDER_WAY.fewest), LIVES_UNDER_WAY.most);
  const aKnownOne = (): string => known[Math.floor(Math.random() * known.length)] ?? '';
  const key = randomUUID();
  await quiet.replay(key);

  const loop =
    (operation: Operation, concurrency = CALLERS, items = 1) =>
    (stretch: Stretch) =>
      closedLoop(operation, { ...stretch, concurrency, items }, new Meter(rig.processes));
  const liveWith = (merchant: Merchant): Operation => {
    return async () => receiver.life((await merchant.createAndPay()).id);
  };

  /** DBOS asks its database for work all the time: it stands still while others are measured. */
  const ofDbos = (measure: (stretch: Stretch) => Promise<Reading>) => (stretch: Stretch) => {
    rig.proceed('dbos');
    return measure(stretch).finally(() => rig.standStill('dbos'));
  };
  rig.standStill('dbos');

  const subjects: Subjects = {
    generator: loop(async () => void (await bare.send('GET', '/nothing', {}))),
    noop: loop(() => updateWithStart(client)),
    create: loop(() => quiet.createOnly()),
    dbosCreate: ofDbos(loop(() => quietPeer.createOnly())),
    bulk: loop(() => quiet.createBulk(BULK_ITEMS), perSecond < ENOUGH_FOR_TWO_BULKS ? 1 : 2, BULK_ITEMS),
    bareGet: loop(async () => void (await bare.send('GET', `/payments/${aKnownOne()}`, {}))),
    get: loop(() => quiet.get(aKnownOne())),
    replay: loop(() => quiet.replay(key)),
    life: settled(loop(liveWith(told), livesUnderWay)),
    dbosLife: ofDbos(settled(loop(liveWith(toldPeer), livesUnderWay))),
    barePost: ({ seconds }) => {
      const body = JSON.stringify({ id: randomUUID(), event: 'payment.created', padding: 'x'.repeat(420) });
      return sinkRate(rig, Math.round(seconds * 1_000), async (count) => {
        const order = { url: `${receiver.url}/sink`, body, count, concurrency: POSTS_UNDER_WAY };
        await poster.send('POST', '/', {}, JSON.stringify(order));
      });
    },
    deliver: ({ seconds }) => sinkRate(rig, Math.round(seconds * 400), (count) => fillOutbox(rig, count)),
  };
  return {
    subjects,
    async close() {
      rig.proceed('dbos');
      await Promise.all([api, sandbox, bare, poster, peer].map((http) => http.close()));
      await client.connection.close();
    },
  };
}

async function startDbos(rig: Rig): Promise<{ url: string; databaseUrl: string }> {
  const databaseUrl = await rig.newDatabase('lunas_dbos');
  await rig.prepareDatabase(databaseUrl);
  const port = await freePort();
  await rig.startOther('dbos', 'bench/dbos/peer.mjs', {
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    DBOS_DATABASE_URL: await rig.newDatabase('dbos_system'),
    LUNAS_MASTER_KEY: rig.masterKey,
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
function settled(measure: (stretch: Stretch) => Promise<Reading>) {
  return ({ warmupSeconds, seconds }: Stretch) => measure({ warmupSeconds: warmupSeconds + 2, seconds: seconds + 2 });
}

/** How fast `count` posts reach the receiver's sink, from the first to the last. */
async function sinkRate(rig: Rig, count: number, begin: (count: number) => Promise<void>): Promise<Reading> {
  const meter = new Meter(rig.processes);
  const done = rig.receiver.sink(count, () => meter.start());
  await begin(count);
  await done;
  return meter.stop(count - 1);
}

/** Deliveries of what has happened, to endpoints that are new: the relay finds them all at once. */
async function fillOutbox(rig: Rig, count: number): Promise<void> {
  const { stack, masterKey, db, receiver } = rig;
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
