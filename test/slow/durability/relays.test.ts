import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { createSealer } from '../../../src/crypto/sealing';
import { startWorkerProcess, type BuiltProcess } from '../../support/api-process';
import { eventually } from '../../support/eventually';
import { startReceiver, type Receiver } from '../../support/receiver';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

const PAYMENTS = 20;
const RELAYS = 4;
/** The limit of all relays together: `MAX_PER_ENDPOINT` of the relay. */
const MAX_PER_ENDPOINT = 8;
const MAX_CLAIMS_PER_SECOND = 2;
const RESPONSE_DELAY_MS = 100;
const BIND_OF_CLAIM = /B[^]{4}\0claim_deliveries\0/g;

/** Passes connections to PostgreSQL on, and counts the claims in them. */
class ClaimCounter {
  claims = 0;
  readonly #server: Server;

  constructor(private readonly databaseUrl: URL) {
    this.#server = createServer((client) => {
      const database = connect(Number(databaseUrl.port), databaseUrl.hostname);
      client.on('data', (data) => (this.claims += data.toString('latin1').match(BIND_OF_CLAIM)?.length ?? 0));
      client.pipe(database).pipe(client);
      // A killed relay resets its connections.
      client.on('error', () => database.destroy());
      database.on('error', () => client.destroy());
    });
  }

  /** @returns the URL of the database behind the counter */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('The counter has no port');
    return Object.assign(new URL(this.databaseUrl), { host: `127.0.0.1:${address.port}` }).href;
  }

  close(): void {
    this.#server.close();
  }
}

let service: TestService;
let counter: ClaimCounter;
let countedUrl: string;
let slow: Receiver;
let fast: Receiver;
let slowId: string;
const processes: BuiltProcess[] = [];

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await service.stopWorker();
  counter = new ClaimCounter(new URL(service.databaseUrl));
  countedUrl = await counter.listen();
  [slow, fast] = [await startReceiver(), await startReceiver()];
  slowId = await subscribe(slow);
  await subscribe(fast);
});

afterAll(async () => {
  await Promise.all(processes.map((each) => each.stop()));
  counter.close();
  await Promise.all([slow.close(), fast.close()]);
  await service.close();
});

async function subscribe({ url }: Receiver): Promise<string> {
  const endpoint = { merchantId: service.merchantId, url, events: [] } as const;
  return (await registerEndpoint(service.db, createSealer(service.masterKey), endpoint)).id;
}

async function startProcess(changes: NodeJS.ProcessEnv): Promise<BuiltProcess> {
  const started = await startWorkerProcess(service, changes);
  processes.push(started);
  return started;
}

const startRelay = () => startProcess({ WORKER_ROLES: 'relay', DATABASE_URL: countedUrl });

interface InFlight {
  inFlight: number;
  max: number;
  first?: Snapshot;
}

interface Snapshot {
  readonly atMs: number;
  readonly claims: number;
}

/** Responds after `delayMs`, or never without it. @returns the state of the requests */
function measureInFlight(receiver: Receiver, delayMs?: number) {
  const state: InFlight = { inFlight: 0, max: 0 };
  receiver.respond = (response) => {
    state.first ??= { atMs: Date.now(), claims: counter.claims };
    state.inFlight += 1;
    state.max = Math.max(state.max, state.inFlight);
    response.once('close', () => (state.inFlight -= 1));
    if (delayMs !== undefined) setTimeout(() => response.writeHead(200).end(), delayMs);
  };
  return state;
}

interface Deliveries {
  readonly pendingAtSlow: number;
  readonly pendingAtFast: number;
  readonly leasedAtSlow: number;
  readonly leasedAtFast: number;
  readonly leaseEndMs: number;
}

async function readDeliveries(): Promise<Deliveries> {
  const { rows } = await service.db.query<Deliveries>(
    `select count(*) filter (where endpoint_id = $1 and status = 'pending')::integer as "pendingAtSlow",
       count(*) filter (where endpoint_id <> $1 and status = 'pending')::integer as "pendingAtFast",
       count(*) filter (where endpoint_id = $1 and leased_until > now())::integer as "leasedAtSlow",
       count(*) filter (where endpoint_id <> $1 and leased_until > now() and status = 'pending')::integer
         as "leasedAtFast",
       (extract(epoch from min(leased_until) filter (where endpoint_id = $1 and leased_until > now())) * 1000)::float8
         as "leaseEndMs"
     from webhook_deliveries`,
    [slowId],
  );
  if (!rows[0]) throw new Error('no row');
  return rows[0];
}

/** Each relay may claim once more at each end of the time. */
function expectRareClaims(from: Snapshot, to: Snapshot | undefined): void {
  const claims = (to?.claims ?? 0) - from.claims;
  const seconds = ((to?.atMs ?? 0) - from.atMs) / 1_000;
  expect(counter.claims).toBeGreaterThan(RELAYS);
  expect(claims).toBeLessThanOrEqual(RELAYS * (MAX_CLAIMS_PER_SECOND * seconds + 2));
}

const deliveryIds = ({ received }: Receiver) => received.map(({ headers }) => headers['webhook-id']);

it('four relays keep the limit of an endpoint together, also after one that was killed, and claim rarely', async () => {
  await startProcess({ WORKER_ROLES: 'payments' });
  const created = await Promise.all(
    Array.from({ length: PAYMENTS }, () => service.call('POST', '/payments', { amount: 20_000 })),
  );
  expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
  const { pendingAtSlow } = await readDeliveries();
  expect(pendingAtSlow).toBeGreaterThan(2 * MAX_PER_ENDPOINT);

  const held = measureInFlight(slow);
  const killed = await startRelay();
  await eventually(
    () => Promise.resolve(held.inFlight),
    (inFlight) => inFlight === MAX_PER_ENDPOINT,
  );
  killed.signal('SIGKILL');
  await eventually(
    () => Promise.resolve(held.inFlight),
    (inFlight) => inFlight === 0,
  );
  expect(held.max).toBe(MAX_PER_ENDPOINT);
  const { leasedAtSlow, leasedAtFast, leaseEndMs } = await readDeliveries();
  expect(leasedAtSlow).toBe(MAX_PER_ENDPOINT);

  const delayed = measureInFlight(slow, RESPONSE_DELAY_MS);
  await Promise.all(Array.from({ length: RELAYS }, startRelay));
  // Then only what the killed relay holds is left, and the relays are idle.
  await eventually(readDeliveries, ({ pendingAtFast }) => pendingAtFast <= leasedAtFast);
  const idleSince: Snapshot = { atMs: Date.now(), claims: counter.claims };
  const end = await eventually(
    () => Promise.resolve(delayed.first),
    (first) => first !== undefined,
  );
  expectRareClaims(idleSince, end);

  await eventually(readDeliveries, (deliveries) => deliveries.pendingAtSlow === 0);
  expect(end?.atMs).toBeGreaterThanOrEqual(leaseEndMs);
  expect(delayed.max).toBeLessThanOrEqual(MAX_PER_ENDPOINT);
  expect(new Set(deliveryIds(slow)).size).toBe(pendingAtSlow);
  // The killed relay had not recorded those that it held.
  expect(slow.received).toHaveLength(pendingAtSlow + MAX_PER_ENDPOINT);
  await eventually(readDeliveries, ({ pendingAtFast }) => pendingAtFast === 0);
  expect(new Set(deliveryIds(fast)).size).toBe(pendingAtSlow);
});
