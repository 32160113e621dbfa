import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { createSealer } from '../../src/crypto/sealing';
import type { Queryable } from '../../src/db/connection/pool';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { createLogger } from '../../src/observability/logger';
import { redeliverNamed } from '../../src/services/webhooks/webhook-redelivery';
import { claimDeliveries, reclaimDelivery, type Delivery } from '../../src/webhooks/outbox';
import { recordDelivered } from '../../src/webhooks/record-attempt';
import { Relay, type FailedDelivery } from '../../src/webhooks/relay';
import { createWebhookSender, type WebhookSender } from '../../src/webhooks/send';
import { asSuperuser } from '../support/backdate';
import { collectLog } from '../support/collect-log';
import { eventually } from '../support/eventually';
import { expandBodyOf } from '../support/expand-body';
import { createTestLedger, creation, type TestLedger } from '../support/payments';
import { startReceiver, verifySignature, type Receiver } from '../support/receiver';

const SECRET = 'whsec_test';
const sealer = createSealer(randomBytes(32).toString('base64'));
const log = createLogger('test', 'silent');
const MAX_IN_FLIGHT = 256;

/** `Sun Nov  6 08:49:37 1994`, in UTC. */
function asctime(date: Date): string {
  const [, weekday, day = '', month, year, clock] = /^(\w+), (\d+) (\w+) (\d+) ([\d:]+)/.exec(date.toUTCString()) ?? [];
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${clock} ${year}`;
}

let ledger: TestLedger;
let receiver: Receiver;
let sender: WebhookSender;
let relay: Relay | undefined;
let failedDeliveries: FailedDelivery[];

beforeEach(async () => {
  ledger = await createTestLedger();
  receiver = await startReceiver();
  sender = createWebhookSender({ environment: 'sandbox' });
  failedDeliveries = [];
});

afterEach(async () => {
  await receiver.close();
  await relay?.stop();
  relay = undefined;
  await sender.close();
  await ledger.close();
});

const dependencies = () => ({
  db: ledger.db,
  sealer,
  sender,
  expandBody: expandBodyOf(ledger.db, sealer),
  maxInFlight: MAX_IN_FLIGHT,
  log,
});

function start(log = dependencies().log): Relay {
  const startRetryWorkflow = async (failed: FailedDelivery) => {
    failedDeliveries.push(failed);
  };
  relay = new Relay({ ...dependencies(), log, startRetryWorkflow });
  return relay;
}

async function addEndpoint(secrets = [SECRET]): Promise<string> {
  const id = randomUUID();
  await ledger.db.query('insert into webhook_endpoints (id, merchant_id, url) values ($1, $2, $3)', [
    id,
    ledger.merchantId,
    receiver.url,
  ]);
  for (const secret of secrets) {
    const secretId = randomUUID();
    await ledger.db.query('insert into webhook_secrets (id, endpoint_id, sealed_secret) values ($1, $2, $3)', [
      secretId,
      id,
      sealer.seal(secret, ['webhook-secret', secretId]),
    ]);
  }
  return id;
}

async function createPayments(count: number, db: Queryable = ledger.db): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await transitionWriters.create({ ...ledger.context, db }, creation(ledger.newTerms(), new Date()));
  }
}

const ATTEMPT = { durationMs: 1, statusCode: 200, failure: null, responseExcerpt: '', retryAfterSeconds: null };

/** Records a success of each, as the relay does. */
const deliver = (claimed: readonly Delivery[], db: Queryable = ledger.db) =>
  recordDelivered(
    db,
    claimed.map((delivery) => ({ delivery, attempt: { ...ATTEMPT, startedAt: new Date() } })),
  );

async function endpointState(id: string) {
  const { rows } = await ledger.db.query('select * from webhook_endpoints where id = $1', [id]);
  return rows[0];
}

async function deliveries() {
  const { rows } = await ledger.db.query('select * from webhook_deliveries order by created_at, id');
  return rows;
}

/** The number of delivery rows that the work reads. Its changes are rolled back. */
async function rowsReadBy(client: PoolClient, work: () => Promise<unknown>): Promise<number> {
  const readSoFar = async () => {
    const { rows } = await client.query<{ read: number }>(
      `select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'webhook_deliveries'`,
    );
    return rows[0]?.read ?? Infinity;
  };
  await client.query('begin');
  const before = await readSoFar();
  await work();
  const read = (await readSoFar()) - before;
  await client.query('rollback');
  return read;
}

describe('with many pending deliveries and plans from an empty outbox', () => {
  let client: PoolClient;
  let claimed: readonly Delivery[] = [];

  beforeEach(async () => {
    client = await ledger.db.connect();
    for (let count = 0; count < 10; count += 1) {
      await rowsReadBy(client, claim);
      await rowsReadBy(client, record);
    }
    for (let count = 0; count < 8; count += 1) await addEndpoint();
    await createPayments(60);
  });

  afterEach(() => client.release());

  async function claim(): Promise<void> {
    claimed = await claimDeliveries(client, { max: 256, maxPerEndpoint: 8 });
  }

  const record = () => deliver(claimed, client);

  it('a claim reads only rows near those it takes, and a batch of successes those it records', async () => {
    expect(await rowsReadBy(client, claim)).toBeLessThan(64 * 8);
    expect(claimed).toHaveLength(64);
    expect(await rowsReadBy(client, record)).toBeLessThan(64 * 6);
  });
});

describe('the relay', () => {
  it('sends the event of a transition, signed, with the headers of the contract, and records it', async () => {
    await addEndpoint();
    await createPayments(1);
    start();
    await receiver.waitFor(1);
    const [webhook] = receiver.received;
    const [delivery] = await eventually(deliveries, (rows) => rows[0]?.status === 'delivered');

    expect(webhook && verifySignature(webhook, SECRET)).toBe(true);
    expect(webhook && verifySignature(webhook, 'whsec_other')).toBe(false);
    expect(webhook?.rawHeaders).toEqual(
      expect.arrayContaining([
        'Content-Type',
        'application/json',
        'User-Agent',
        expect.stringMatching(/^Lunas-Webhooks\/\d+\.\d+\.\d+$/),
        'X-Service-Event',
        'payment.created',
        'X-Service-Delivery',
        delivery.id,
        'X-Service-Signature',
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ]),
    );
    // Both schemes sign the same second.
    expect(webhook?.headers['webhook-id']).toBe(delivery.id);
    expect(webhook?.headers['x-service-signature']).toMatch(
      new RegExp(`^t=${String(webhook?.headers['webhook-timestamp'])},`),
    );
    const { rows } = await ledger.db.query('select body from webhook_events');
    expect(webhook?.rawBody).toBe(rows[0].body);
    const attempts = await ledger.db.query('select * from webhook_attempts');
    expect(attempts.rows).toMatchObject([{ number: 1, status_code: 200, failure: null }]);
  });

  it('continues when there is room, without waiting for its poll', async () => {
    await addEndpoint();
    await createPayments(96);
    const arrivedMs: number[] = [];
    receiver.respond = (response) => {
      arrivedMs.push(performance.now());
      response.writeHead(200).end();
    };
    start();
    await receiver.waitFor(96);
    const pauses = arrivedMs.filter((atMs, index) => atMs - (arrivedMs[index - 1] ?? atMs) > 900);
    // Eight at a time would be eleven pauses. A slow machine may cause some.
    expect(pauses.length).toBeLessThan(6);
  });

  it('sends by its poll what a process wrote that died before it woke a relay', async () => {
    await addEndpoint();
    start();
    await createPayments(1);
    const writtenMs = performance.now();
    await receiver.waitFor(1);
    // A lease of the dead process would end after 30 s.
    expect(performance.now() - writtenMs).toBeLessThan(15_000);
  });

  it('signs with every secret that is valid during a rotation', async () => {
    const endpoint = await addEndpoint(['whsec_old', 'whsec_new', 'whsec_expired']);
    await ledger.db.query(
      `update webhook_secrets set expires_at = now() - interval '1 second'
       where endpoint_id = $1 and sealed_secret = (select sealed_secret from webhook_secrets offset 2 limit 1)`,
      [endpoint],
    );
    await createPayments(1);
    start();
    await receiver.waitFor(1);
    const [webhook] = receiver.received;
    const valid = ['whsec_old', 'whsec_new', 'whsec_expired'].map(
      (secret) => webhook && verifySignature(webhook, secret),
    );
    expect(valid).toEqual([true, true, false]);
  });

  it.each([
    ['a 500', (r: Receiver) => (r.respond = (response) => response.writeHead(500).end('broken'))],
    ['a redirect', (r: Receiver) => (r.respond = (response) => response.writeHead(302, { location: r.url }).end())],
    ['a reset', (r: Receiver) => (r.respond = (response) => response.destroy())],
  ])('starts a retry workflow after %s at the first attempt, and records the attempt', async (_name, misbehave) => {
    misbehave(receiver);
    await addEndpoint();
    await createPayments(1);
    start();
    const [delivery] = await eventually(deliveries, (rows) => rows[0]?.retry_workflow_started_at !== null);
    expect(delivery).toMatchObject({ status: 'pending', attempts_total: 1 });
    expect(failedDeliveries.map(({ delivery }) => delivery.deliveryId)).toEqual([delivery.id]);
    expect(receiver.received).toHaveLength(1);
    const { rows } = await ledger.db.query('select failure from webhook_attempts');
    expect(rows[0].failure).toBeTruthy();
  });

  it('disables the endpoint of a receiver that returns 410, and marks its pending deliveries dead', async () => {
    const endpoint = await addEndpoint();
    receiver.respond = (response) => response.writeHead(410).end();
    await createPayments(20);
    start();
    const rows = await eventually(deliveries, (rows) => rows.every(({ status }) => status === 'dead'));
    const gone = rows.filter((row) => row.dead_reason === 'endpoint_gone');
    const waited = rows.filter((row) => row.dead_reason === 'endpoint_disabled');
    expect(gone.length).toBeGreaterThan(0);
    expect(gone.length).toBeLessThanOrEqual(8);
    expect(gone.length + waited.length).toBe(20);
    expect(receiver.received.length).toBeLessThanOrEqual(8);
    expect(await endpointState(endpoint)).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    expect(failedDeliveries).toEqual([]);
  });

  it.each([
    ['seconds', () => '90', () => 90],
    [
      'a date',
      () => new Date(Date.now() + 90_000).toUTCString(),
      (requested: string, startedAt: Date) => (Date.parse(requested) - startedAt.getTime()) / 1_000,
    ],
    [
      'a date as C prints it',
      () => asctime(new Date(Date.now() + 90_000)),
      (requested: string, startedAt: Date) => (Date.parse(`${requested} GMT`) - startedAt.getTime()) / 1_000,
    ],
    ['the same line twice', () => ['90', '90'], () => 90],
    ['more than an hour', () => '86400', () => 3_600],
  ])('delays the retry by the Retry-After of a busy receiver: %s', async (_name, retryAfter, expectedSeconds) => {
    const { requested, failed } = await rejectedWith(retryAfter);
    expect(failed.delaySeconds).toBe(expectedSeconds(requested, failed.attempt.startedAt));
  });

  it.each([
    ['no time', 'soon'],
    ['two times', ['90', '900']],
    ['a time that has passed', new Date(0).toUTCString()],
  ])('uses the normal delay if Retry-After is %s', async (_name, retryAfter) => {
    const { failed } = await rejectedWith(() => retryAfter);
    expect(failed.delaySeconds).toBeGreaterThanOrEqual(9);
    expect(failed.delaySeconds).toBeLessThanOrEqual(11);
  });

  /** The `Retry-After` of the receiver, and the delivery that the retry workflow gets. */
  async function rejectedWith(
    retryAfter: () => string | string[],
  ): Promise<{ requested: string; failed: FailedDelivery }> {
    await addEndpoint();
    let requested = '';
    receiver.respond = (response) => {
      const lines = retryAfter();
      requested = String(lines);
      response.setHeader('retry-after', lines).writeHead(503).end();
    };
    await createPayments(1);
    start();
    await eventually(deliveries, (rows) => rows[0]?.retry_workflow_started_at !== null);
    const [failed] = failedDeliveries;
    if (!failed) throw new Error('Nothing was handed over');
    return { requested, failed };
  }

  it('stores what a receiver returned, except of an endpoint that sends it personal data', async () => {
    receiver.respond = (response, { rawBody }) => response.writeHead(200).end(rawBody);
    for (const expand of ['{}', '{settlement}', '{customer}', '{metadata,settlement}']) {
      await ledger.db.query('update webhook_endpoints set expand = $2 where id = $1', [await addEndpoint(), expand]);
    }
    await createPayments(1);
    start();
    await eventually(deliveries, (rows) => rows.every(({ status }) => status === 'delivered'));
    const { rows } = await ledger.db.query(
      `select expand from webhook_attempts
         join webhook_deliveries delivery on delivery_id = delivery.id
         join webhook_endpoints endpoint on endpoint_id = endpoint.id
       where response_excerpt is not null order by expand`,
    );
    expect(rows.map(({ expand }) => expand)).toEqual([[], ['settlement']]);
  });

  it('counts an attempt whose body cannot be made as a failed one, and sends what is behind it', async () => {
    const endpoint = await addEndpoint();
    await ledger.db.query("update webhook_endpoints set expand = '{customer}' where id = $1", [endpoint]);
    await createPayments(2);
    const [poison] = await deliveries();
    await ledger.db.query(
      `insert into payment_details (payment_id, fingerprint, sealed)
       select id, fingerprint, 'v1.lost.key' from payments where id = $1`,
      [poison.payment_id],
    );
    start();
    const [failed, sent] = await eventually(
      deliveries,
      ([first, second]) => first?.retry_workflow_started_at !== null && second?.status === 'delivered',
    );
    expect([failed, sent]).toMatchObject([{ status: 'pending', attempts_total: 1 }, { attempts_total: 1 }]);
    const { rows } = await ledger.db.query('select failure from webhook_attempts where delivery_id = $1', [poison.id]);
    expect(rows).toEqual([{ failure: 'not called: the body could not be made' }]);
    expect(receiver.received).toHaveLength(1);
  });

  it('counts an attempt whose secret cannot be opened as a failed one, but not against its endpoint', async () => {
    const [poisoned, other] = [await addEndpoint(), await addEndpoint()];
    const health = { consecutive_failures: 19, failing_since: new Date('2020-01-01') };
    await ledger.db.query('update webhook_endpoints set consecutive_failures = $2, failing_since = $3 where id = $1', [
      poisoned,
      health.consecutive_failures,
      health.failing_since,
    ]);
    await asSuperuser(
      ledger.db,
      `update webhook_secrets set sealed_secret = 'v1.lost.key' where endpoint_id = '${poisoned}'`,
    );
    await createPayments(1);
    start();
    const rows = await eventually(deliveries, (rows) =>
      rows.every((row) => row.retry_workflow_started_at !== null || row.status === 'delivered'),
    );
    expect(rows.find((row) => row.endpoint_id === poisoned)).toMatchObject({ status: 'pending', attempts_total: 1 });
    expect(rows.find((row) => row.endpoint_id === other)).toMatchObject({ status: 'delivered', attempts_total: 1 });
    const { rows: attempts } = await ledger.db.query('select failure from webhook_attempts where failure is not null');
    expect(attempts).toEqual([{ failure: "not called: the endpoint's secret could not be opened" }]);
    expect(receiver.received).toHaveLength(1);
    expect(await endpointState(poisoned)).toMatchObject({ ...health, status: 'enabled', next_probe_at: null });
  });

  it('signs with the secrets that can be opened, and logs the others', async () => {
    const [endpoint, lost] = [await addEndpoint(), randomUUID()];
    await ledger.db.query(
      "insert into webhook_secrets (id, endpoint_id, sealed_secret) values ($1, $2, 'v1.lost.key')",
      [lost, endpoint],
    );
    await createPayments(1);
    const collected = collectLog();
    start(collected.log);
    const [delivery] = await eventually(deliveries, ([first]) => first?.status === 'delivered');
    const [webhook] = receiver.received;
    expect(webhook && verifySignature(webhook, SECRET)).toBe(true);
    const ofSecret = { level: 50, delivery: delivery.id, secrets: [lost] };
    expect(collected.lines('webhook secret not opened')).toEqual([expect.objectContaining(ofSecret)]);
  });

  it('a probe that Lunas cannot sign changes only when the next one is due', async () => {
    const endpoint = await addEndpoint();
    await asSuperuser(ledger.db, "update webhook_secrets set sealed_secret = 'v1.lost.key'");
    await ledger.db.query(
      `update webhook_endpoints set consecutive_failures = 20, failing_since = now() - interval '200 hours',
         next_probe_at = now()`,
    );
    await createPayments(1);
    start();
    await eventually(deliveries, ([first]) => first?.attempts_total === 1);
    const { next_probe_at: nextProbeAt, ...state } = await endpointState(endpoint);
    expect(state).toMatchObject({ status: 'enabled', consecutive_failures: 20 });
    expect(nextProbeAt.getTime()).toBeGreaterThan(Date.now() + 60_000);
  });

  it('the relay does not read an endless response to its end', async () => {
    let written = 0;
    receiver.respond = (response) => {
      const more = () => {
        while (!response.destroyed && written < 50_000_000 && response.write(Buffer.alloc(64_000, 'x')))
          written += 64_000;
      };
      response.writeHead(200).on('drain', more);
      more();
    };
    await addEndpoint();
    await createPayments(1);
    start();
    await eventually(deliveries, (rows) => rows[0]?.status === 'delivered');
    expect(written).toBeLessThan(50_000_000);
  });

  it('sends each delivery once with two concurrent relays', async () => {
    await addEndpoint();
    await createPayments(60);
    const other = new Relay({ ...dependencies(), startRetryWorkflow: async () => undefined });
    start();
    await eventually(deliveries, (rows) => rows.every(({ status }) => status === 'delivered'));
    await other.stop();
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery']);
    expect(ids).toHaveLength(60);
    expect(new Set(ids).size).toBe(60);
  });

  it('an endpoint is not delayed while others hang, also on the same server', async () => {
    const hanging = new Set(await Promise.all(Array.from({ length: 3 }, () => addEndpoint())));
    await createPayments(20);
    const healthy = await addEndpoint();
    await ledger.db.query("update webhook_endpoints set url = url || '?' || id");
    const open = new Map<string, number>();
    receiver.respond = (response) => {
      const endpoint = response.req.url?.split('?')[1] ?? '';
      if (hanging.has(endpoint)) open.set(endpoint, (open.get(endpoint) ?? 0) + 1);
      else response.end();
    };
    start();
    await eventually(
      () => Promise.resolve([...open.values()]),
      (counts) => counts.length === 3 && counts.every((count) => count === 8),
    );
    await createPayments(30);
    relay?.wake();
    await eventually(deliveries, (rows) =>
      rows.filter((row) => row.endpoint_id === healthy).every(({ status }) => status === 'delivered'),
    );
    expect([...open.values()]).toEqual([8, 8, 8]);
  });

  it('the relay never has more than eight attempts in flight at an endpoint, however often it is woken', async () => {
    await addEndpoint();
    await createPayments(80);
    let [open, maxOpen] = [0, 0];
    const held: (() => void)[] = [];
    receiver.respond = (response) => {
      const respond = () => {
        open -= 1;
        response.end();
      };
      maxOpen = Math.max(maxOpen, (open += 1));
      // The first eight wait for each other, so that the limit is reached also on a slow machine.
      if (maxOpen < 8) held.push(respond);
      else for (const each of [...held.splice(0), respond]) setTimeout(each, Math.random() * 40);
    };
    start();
    const waking = setInterval(() => relay?.wake(), 1);
    await eventually(deliveries, (rows) => rows.every(({ status }) => status === 'delivered'));
    clearInterval(waking);
    expect(maxOpen).toBe(8);
  });

  it.each([
    ['', 0],
    [', also while an endpoint hangs', 8],
  ])('claims when it is woken, not after each delivery%s', async (_beside, hanging) => {
    if (hanging > 0) await addEndpoint();
    await createPayments(hanging);
    const healthy = await addEndpoint();
    await ledger.db.query("update webhook_endpoints set url = url || '?healthy' where id = $1", [healthy]);
    let hung = 0;
    receiver.respond = (response) => {
      if (response.req.url?.endsWith('?healthy')) response.end();
      else hung += 1;
    };
    const query = jest.spyOn(ledger.db, 'query');
    const startedAt = Date.now();
    const running = start();
    for (let sent = 1; sent <= 10; sent += 1) {
      await createPayments(1);
      running.wake();
      await eventually(deliveries, (rows) => rows.filter(({ status }) => status === 'delivered').length === sent);
    }
    expect(hung).toBe(hanging);
    const looks = query.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('claim_deliveries'));
    // One for each of them, one at the start, and one a second.
    expect(looks.length).toBeLessThanOrEqual(10 + 2 + Math.ceil((Date.now() - startedAt) / 1_000));
  });

  it('records concurrent successes in one statement, each with its attempt', async () => {
    await Promise.all(Array.from({ length: 4 }, () => addEndpoint()));
    await createPayments(5);
    const writer = await ledger.db.connect();
    await writer.query('begin');
    await writer.query('lock table webhook_attempts');
    const query = jest.spyOn(ledger.db, 'query');
    start();
    await receiver.waitFor(20);
    await sleep(200);
    await writer.query('commit');
    writer.release();
    const rows = await eventually(deliveries, (all) => all.every(({ status }) => status === 'delivered'));
    expect(rows).toHaveLength(20);
    const attempts = await ledger.db.query('select distinct delivery_id from webhook_attempts where number = 1');
    expect(attempts.rows).toHaveLength(20);
    const written = query.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('record_delivered'));
    expect(written.length).toBeLessThan(10);
  });

  it('four relays together send an endpoint at most eight webhooks at a time, and each of them once', async () => {
    await addEndpoint();
    await createPayments(100);
    let inFlight = 0;
    let most = 0;
    const held: (() => void)[] = [];
    receiver.respond = (response) => {
      const respond = () => {
        inFlight -= 1;
        response.end();
      };
      most = Math.max(most, (inFlight += 1));
      // The first eight wait for each other, so that the limit is reached also on a slow machine.
      if (most < 8) held.push(respond);
      else for (const each of [...held.splice(0), respond]) setTimeout(each, 20);
    };
    const startRetryWorkflow = async () => undefined;
    const relays = Array.from({ length: 4 }, () => new Relay({ ...dependencies(), startRetryWorkflow }));
    const rows = await eventually(deliveries, (all) => all.every(({ status }) => status === 'delivered'));
    await Promise.all(relays.map((each) => each.stop()));
    expect(receiver.received).toHaveLength(rows.length);
    expect(most).toBe(8);
  });

  it('a redelivery does not hide leases: the limit of the endpoint holds', async () => {
    const endpointId = await addEndpoint();
    const bounds = { max: 100, maxPerEndpoint: 8 };
    const countLeased = async () => {
      const { rows } = await ledger.db.query(
        'select count(*) as leased from webhook_deliveries where leased_until > now()',
      );
      return rows[0].leased;
    };
    await createPayments(20);
    await ledger.db.query("update webhook_deliveries set status = 'delivered', finished_at = now()");
    const ids = (await deliveries()).map(({ id }) => id);
    const client = await ledger.db.connect();
    try {
      await client.query('begin');
      await client.query('select now()');
      // These are queued and leased after the redelivery has begun.
      await createPayments(8);
      expect(await claimDeliveries(ledger.db, bounds)).toHaveLength(8);
      await redeliverNamed(client, ids);
      await client.query('commit');
    } finally {
      client.release();
    }
    expect(await claimDeliveries(ledger.db, bounds)).toEqual([]);
    expect(await countLeased()).toBe(8);

    await ledger.db.query(
      'update webhook_deliveries set retry_workflow_started_at = now() where endpoint_id = $1 and leased_until < now()',
      [endpointId],
    );
    for (const id of ids) await reclaimDelivery(ledger.db, id);
    expect(await claimDeliveries(ledger.db, bounds)).toEqual([]);
  });

  it('a lease that moves its row does not hide it: the limit holds for deliveries of one instant', async () => {
    await addEndpoint();
    await createPayments(100);
    await ledger.db.query('update webhook_deliveries set queued_at = now()');
    // Without room in its page, each lease moves its row to the end of the table.
    await ledger.db.query('vacuum full webhook_deliveries');
    const bounds = { max: 100, maxPerEndpoint: 8 };
    expect(await claimDeliveries(ledger.db, bounds)).toHaveLength(8);
    for (let count = 0; count < 3; count += 1) expect(await claimDeliveries(ledger.db, bounds)).toEqual([]);
  });

  it('deliveries that two transactions commit late do not hide leases: the limit holds', async () => {
    await addEndpoint();
    const bounds = { max: 100, maxPerEndpoint: 8 };
    const slow = await Promise.all([ledger.db.connect(), ledger.db.connect()]);
    let leased: readonly Delivery[];
    try {
      for (const client of slow) {
        await client.query('begin');
        // What it writes has the time of its first statement.
        await client.query('select now()');
      }
      await createPayments(24);
      leased = await claimDeliveries(ledger.db, bounds);
      for (const client of slow) {
        await createPayments(10, client);
        await client.query('commit');
      }
    } finally {
      for (const client of slow) client.release();
    }
    expect(leased).toHaveLength(8);
    expect(await claimDeliveries(ledger.db, bounds)).toEqual([]);

    const late = (await deliveries()).slice(0, 20).map(({ id }) => id);
    await deliver(leased.slice(0, 3));
    const next = await claimDeliveries(ledger.db, bounds);
    expect(new Set(next.map(({ deliveryId }) => deliveryId))).toEqual(new Set(late.slice(0, 3)));
    await deliver(leased.slice(3));
    expect(await claimDeliveries(ledger.db, bounds)).toHaveLength(5);
    expect(await claimDeliveries(ledger.db, bounds)).toEqual([]);
  });

  it('sends the deliveries of a terminated relay after their lease', async () => {
    await addEndpoint();
    await createPayments(3);
    const bounds = { max: 10, maxPerEndpoint: 10 };
    expect(await claimDeliveries(ledger.db, bounds)).toHaveLength(3);
    expect(await claimDeliveries(ledger.db, bounds)).toHaveLength(0);
    await ledger.db.query("update webhook_deliveries set leased_until = now() - interval '1 second'");
    start();
    await receiver.waitFor(3);
  });

  it('abandons a claim that took too long: an attempt would end after its lease', async () => {
    await addEndpoint();
    await createPayments(3);
    // With this clock two readings are always 11 s apart, so every claim takes too long.
    const now = Date.now;
    let looks = 0;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 11_000 * (looks += 1));
    start();
    while ((await deliveries()).some(({ leased_until }) => leased_until === null)) await sleep(20);
    await sleep(300);
    expect(receiver.received).toHaveLength(0);
    clock.mockRestore();
    await ledger.db.query("update webhook_deliveries set leased_until = now() - interval '1 second'");
    relay?.wake();
    await receiver.waitFor(3);
  });

  it('makes another attempt if the retry workflow cannot start, and the cycle counts only one of them', async () => {
    await addEndpoint();
    receiver.respond = (response) => response.writeHead(500).end();
    await createPayments(1);
    let calls = 0;
    const startRetryWorkflow = async () => {
      calls += 1;
      if (calls < 15) throw new Error('Temporal is away');
    };
    relay = new Relay({ ...dependencies(), startRetryWorkflow });
    for (let attempt = 1; attempt < 15; attempt += 1) {
      await eventually(
        () => Promise.resolve(calls),
        (now) => now >= attempt,
      );
      await ledger.db.query("update webhook_deliveries set leased_until = '-infinity'");
      relay.wake();
    }
    const [delivery] = await eventually(deliveries, (rows) => rows[0]?.retry_workflow_started_at !== null);
    expect(delivery).toMatchObject({ status: 'pending', attempts_in_cycle: 1 });
    expect(delivery.attempts_total).toBeGreaterThanOrEqual(15);
  });

  it('the relay does not send a delivery that was written while its endpoint was disabled', async () => {
    const endpoint = await addEndpoint();
    await createPayments(2);
    await ledger.db.query("update webhook_endpoints set status = 'disabled' where id = $1", [endpoint]);
    start();
    const rows = await eventually(deliveries, (rows) => rows.every(({ status }) => status === 'dead'));
    expect(rows.map((row) => row.dead_reason)).toEqual(['endpoint_disabled', 'endpoint_disabled']);
    expect(receiver.received).toHaveLength(0);
  });
});

describe('a failing endpoint', () => {
  const DELIVERIES = 600;

  async function counts(): Promise<Record<'pending' | 'delivered' | 'dead', number>> {
    const { rows } = await ledger.db.query(
      `select count(*) filter (where status = 'pending') as pending,
         count(*) filter (where status = 'delivered') as delivered, count(*) filter (where status = 'dead') as dead
       from webhook_deliveries`,
    );
    return rows[0];
  }

  /** Makes the probe due. */
  async function probeNow(): Promise<void> {
    await ledger.db.query("update webhook_endpoints set next_probe_at = now() - interval '1 millisecond'");
    relay?.wake();
  }

  /** Sets the state after many failures, the first of them some days ago. */
  async function isFailingFor(days: number): Promise<void> {
    await ledger.db.query(
      `update webhook_endpoints set consecutive_failures = 100, failing_since = now() - $1::float8 * interval '1 day',
         next_probe_at = now() - interval '1 minute'`,
      [days],
    );
  }

  it('gets few retry workflows and one probe at a time, and all its deliveries after its recovery', async () => {
    const endpoint = await addEndpoint();
    receiver.respond = (response) => response.writeHead(500).end();
    await createPayments(DELIVERIES);
    start();
    await eventually(
      () => endpointState(endpoint),
      ({ next_probe_at }) => next_probe_at !== null,
    );
    await relay?.stop();
    const [attempts, workflows] = [receiver.received.length, failedDeliveries.length];
    expect(attempts).toBeLessThanOrEqual(20 + 8);
    expect(workflows).toBeLessThan(20);
    expect(await counts()).toEqual({ pending: DELIVERIES, delivered: 0, dead: 0 });

    start();
    await sleep(1_200);
    expect(receiver.received).toHaveLength(attempts);
    const before = await endpointState(endpoint);
    const probedAtMs = Date.now();
    await probeNow();
    await eventually(
      () => endpointState(endpoint),
      (state) => state.consecutive_failures === before.consecutive_failures + 1,
    );
    await sleep(1_200);
    expect(receiver.received).toHaveLength(attempts + 1);
    expect((await endpointState(endpoint)).next_probe_at.getTime()).toBeGreaterThan(probedAtMs + 5_000);
    expect(await counts()).toEqual({ pending: DELIVERIES, delivered: 0, dead: 0 });

    receiver.respond = (response) => response.end();
    await probeNow();
    const drained = await eventually(counts, ({ delivered }) => delivered === DELIVERIES - workflows);
    expect(drained).toEqual({ pending: workflows, delivered: DELIVERIES - workflows, dead: 0 });
    expect(failedDeliveries).toHaveLength(workflows);
    expect(await endpointState(endpoint)).toMatchObject({
      consecutive_failures: 0,
      failing_since: null,
      next_probe_at: null,
    });
  });

  it('a failing endpoint is probed at increasing intervals, or after its Retry-After', async () => {
    const endpoint = await addEndpoint();
    await createPayments(1);
    /** The delay is between `max`, from before the probe, and `min`, from after it. */
    const delaysAfter = async (days: number) => {
      const probedAtMs = Date.now();
      await isFailingFor(days);
      (relay ?? start()).wake();
      const { next_probe_at } = await eventually(
        () => endpointState(endpoint),
        ({ next_probe_at }) => next_probe_at.getTime() > probedAtMs,
      );
      return [probedAtMs, Date.now()].map((fromMs) => (next_probe_at.getTime() - fromMs) / 1_000);
    };
    receiver.respond = (response) => response.writeHead(500).end();
    const delays = [await delaysAfter(0), await delaysAfter(120 / 86_400), await delaysAfter(1)];
    receiver.respond = (response) => response.writeHead(429, { 'retry-after': '1800' }).end();
    delays.push(await delaysAfter(0));
    const planned = [10, 30, 900, 1_800];
    for (const [index, [max, min]] of delays.entries()) {
      expect(max).toBeGreaterThan((planned[index] ?? 0) - 1);
      expect(min).toBeLessThan((planned[index] ?? 0) + 4);
    }
  });

  it('recovers although it fails for one event: each probe is another delivery', async () => {
    await addEndpoint();
    await createPayments(5);
    const [poison] = await deliveries();
    receiver.respond = (response, { headers }) =>
      response.writeHead(headers['x-service-delivery'] === poison.id ? 500 : 200).end();
    await isFailingFor(1);
    start();
    while ((await counts()).delivered < 4) {
      await ledger.db.query(
        "update webhook_endpoints set next_probe_at = now() - interval '1 second' where next_probe_at is not null",
      );
      relay?.wake();
      await sleep(20);
    }
    expect(receiver.received.filter(({ headers }) => headers['x-service-delivery'] === poison.id).length).toBeLessThan(
      5,
    );
  });

  it('a failed probe marks only deliveries dead that waited for three days', async () => {
    await addEndpoint();
    await createPayments(4);
    const old = (await deliveries()).slice(0, 3).map(({ id }) => id);
    await ledger.db.query("update webhook_deliveries set queued_at = now() - interval '73 hours' where id = any($1)", [
      old,
    ]);
    receiver.respond = (response) => response.writeHead(500).end();
    await isFailingFor(4);
    start();
    const rows = await eventually(deliveries, (rows) => rows.filter(({ status }) => status === 'dead').length === 3);
    expect(rows.map((row) => row.dead_reason)).toEqual([
      'endpoint_failing',
      'endpoint_failing',
      'endpoint_failing',
      null,
    ]);
    expect(receiver.received).toHaveLength(1);
    expect(rows.reduce((sum, { attempts_total }) => sum + attempts_total, 0)).toBe(1);
  });

  it('an endpoint without a success in five days is disabled, and its pending deliveries are dead', async () => {
    const endpoint = await addEndpoint();
    await createPayments(4);
    await ledger.db.query(
      `update webhook_deliveries set retry_workflow_started_at = now()
       where id = (select id from webhook_deliveries limit 1)`,
    );
    receiver.respond = (response) => response.writeHead(500).end();
    await isFailingFor(4.9);
    start();
    await receiver.waitFor(1);
    await eventually(deliveries, (rows) => rows.some(({ attempts_total }) => attempts_total === 1));
    expect(await counts()).toMatchObject({ pending: 4 });
    await isFailingFor(5.1);
    relay?.wake();
    const rows = await eventually(deliveries, (rows) => rows.every(({ status }) => status === 'dead'));
    expect(new Set(rows.map((row) => row.dead_reason))).toEqual(new Set(['endpoint_disabled']));
    expect(await endpointState(endpoint)).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
    expect(failedDeliveries).toEqual([]);
  });

  it('an endpoint is not failing while one attempt in twenty succeeds', async () => {
    const endpoint = await addEndpoint();
    let responded = 0;
    receiver.respond = (response) => response.writeHead((responded += 1) % 11 === 0 ? 200 : 500).end();
    await createPayments(100);
    start();
    await eventually(deliveries, (rows) =>
      rows.every((row) => row.status === 'delivered' || row.retry_workflow_started_at),
    );
    expect(failedDeliveries).toHaveLength(91);
    expect(await endpointState(endpoint)).toMatchObject({ status: 'enabled', next_probe_at: null });
  });
});
