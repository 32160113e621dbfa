import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { claimDeliveries } from '../../src/webhooks/outbox';
import { createProductionDatabase } from '../support/database';
import { createTestLedger, creation, type TestLedger } from '../support/payments';
import { productionOperator } from '../support/production';
import { startReceiver, verifySignature, type Receiver } from '../support/receiver';
import { runLunas } from './run-lunas';

const UNKNOWN_ID = randomUUID();
const masterKey = randomBytes(32).toString('base64');

let home: string;
let ledger: TestLedger;
let receiver: Receiver;
let environment: NodeJS.ProcessEnv;

beforeEach(async () => {
  [ledger, receiver] = await Promise.all([createTestLedger(), startReceiver()]);
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-webhooks-'));
  const { rows } = await ledger.db.query<{ name: string }>('select current_database() as name');
  const databaseUrl = new URL(process.env.LUNAS_TEST_DATABASE_SERVER_URL ?? '');
  databaseUrl.pathname = rows[0]?.name ?? '';
  environment = { DATABASE_URL: databaseUrl.href, LUNAS_HOME: home, LUNAS_MASTER_KEY: masterKey };
});

afterEach(async () => {
  await Promise.all([receiver.close(), ledger.close(), rm(home, { recursive: true })]);
});

const lunas = (line: string, changes: NodeJS.ProcessEnv = {}) =>
  runLunas(`webhooks ${line}`.split(' '), { ...environment, ...changes });

// Tests read any result.
// oxlint-disable-next-line typescript/no-explicit-any
async function json(line: string): Promise<any> {
  const { exitCode, stdout, stderr } = await lunas(`${line} --json`);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function register(): Promise<{ id: string; secret: string }> {
  return (await json(`create --merchant ${ledger.merchantId} --url ${receiver.url}`)).endpoint;
}

async function newDelivery(): Promise<{ id: string; referenceId: string }> {
  const terms = ledger.newTerms();
  await transitionWriters.create(ledger.context, creation(terms, new Date()));
  const { rows } = await ledger.db.query('select id from webhook_deliveries where payment_id = $1', [terms.paymentId]);
  return { id: rows[0].id, referenceId: terms.referenceId };
}

it('warns that another enabled endpoint has the URL, and names the way to a new secret', async () => {
  const { id } = await register();
  const create = (path: string) => lunas(`create --merchant ${ledger.merchantId} --url ${receiver.url}${path}`);
  const { stdout } = await create('');
  expect(stdout).toContain(`Warning: ${id} is enabled and has the same URL: your server receives twice`);
  expect(stdout).toContain(`lunas webhooks rotate-secret ${id}\n`);
  expect((await create('?other')).stdout).not.toContain('Warning');
  await ledger.db.query(`update webhook_endpoints set status = 'disabled'`);
  expect((await create('')).stdout).not.toContain('Warning');
});

it('sends a ping and prints the response', async () => {
  receiver.respond = (response) => response.writeHead(202).end('noted');
  const { id, secret } = await register();
  const { ping } = await json(`ping ${id}`);
  expect(ping).toMatchObject({ endpoint_id: id, url: receiver.url, status_code: 202, failure: null });
  expect(receiver.received.every((webhook) => verifySignature(webhook, secret))).toBe(true);
  expect((await lunas(`ping ${id}`)).stdout).toMatch(/Result +delivered\n.*\n.*\n.*\nResponse +noted\n/);
});

it('a ping that is not delivered prints the response, and exits with 1', async () => {
  receiver.respond = (response) => response.writeHead(418).end('a teapot');
  const { id } = await register();
  const { exitCode, stdout, stderr } = await lunas(`ping ${id}`);
  expect(stdout).toMatch(/Result +failed: the receiver returned 418\n.*\n/);
  expect([exitCode, stderr]).toEqual([1, 'error: The ping was not delivered: the receiver returned 418.\n']);
  const document = JSON.parse((await lunas(`ping ${id} --json`)).stdout);
  expect(document.ping).toMatchObject({ status_code: 418, response_excerpt: 'a teapot' });
});

it('rotates a secret: both sign for a day, or for the given overlap', async () => {
  const { id, secret } = await register();
  const { endpoint } = await json(`rotate-secret ${id}`);
  const overlapMs = Date.parse(endpoint.old_secret_expires_at) - Date.now();
  expect(Math.abs(overlapMs - 86_400_000)).toBeLessThan(60_000);
  await json(`ping ${id}`);
  expect(receiver.received.map((webhook) => [secret, endpoint.secret].map((s) => verifySignature(webhook, s)))).toEqual(
    [[true, true]],
  );
  const { stdout } = await lunas(`rotate-secret ${id} --overlap 0s`);
  expect(stdout).toMatch(/Secret +whsec_.+\n.*\nOld secret +valid until /);
  await json(`ping ${id}`);
  expect([secret, endpoint.secret].map((s) => verifySignature(receiver.received[1] ?? never(), s))).toEqual([
    false,
    false,
  ]);
});

it('disables and enables an endpoint, and redelivers its dead deliveries', async () => {
  const { id } = await register();
  const delivery = await newDelivery();
  expect((await lunas(`disable ${id}`)).stdout).toBe(`${receiver.url} (${id}) is disabled (operator).\n`);
  expect((await json('list')).endpoints).toMatchObject([{ id, status: 'disabled', disabled_reason: 'operator' }]);
  expect((await json('deliveries --status dead')).deliveries).toMatchObject([
    { id: delivery.id, dead_reason: 'endpoint_disabled', attempts: [] },
  ]);
  const rejected = await lunas(`redeliver ${delivery.id}`);
  expect([rejected.exitCode, rejected.stderr]).toEqual([1, expect.stringContaining(`lunas webhooks enable ${id}`)]);
  expect((await lunas(`enable ${id}`)).stdout).toBe(`${receiver.url} (${id}) is enabled.\n`);
  const [since, until] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  expect(await json(`redeliver --since ${since} --until ${until}`)).toEqual({ redelivered: 1, skipped: 0 });
  const again = await claimDeliveries(ledger.db, {
    max: 9,
    maxPerEndpoint: 9,
  });
  expect(again.map(({ deliveryId }) => deliveryId)).toEqual([delivery.id]);
});

it('lists deliveries by payment, and the health of a failing endpoint', async () => {
  await register();
  const [first, second] = [await newDelivery(), await newDelivery()];
  expect((await json('deliveries')).deliveries.map((delivery: { id: string }) => delivery.id)).toEqual([
    second.id,
    first.id,
  ]);
  const { stdout } = await lunas(`deliveries --payment ${first.referenceId}`);
  expect(stdout).toMatch(new RegExp(`^ID .*\n${first.id} .*payment\\.created .*pending`));
  expect(stdout).not.toContain(second.id);
  await ledger.db.query(
    "update webhook_endpoints set consecutive_failures = 1, failing_since = '2026-01-05T03:00:00Z'",
  );
  expect((await lunas('list')).stdout).toMatch(/ 2 +failing since 2026-01-05T03:00:00.000Z \(1 attempts\)\n$/);
  await ledger.db.query(
    `update webhook_endpoints set consecutive_failures = 21, failing_since = '2026-01-05T03:00:00Z',
       next_probe_at = '2026-01-05T04:00:00Z'`,
  );
  expect((await lunas('list')).stdout).toMatch(
    / 2 +failing since 2026-01-05T03:00:00.000Z \(21 attempts\), next probe 2026-01-05T04:00:00.000Z\n$/,
  );
});

it.each([
  [`rotate-secret ${UNKNOWN_ID}`, 1, `There is no endpoint ${UNKNOWN_ID}; lunas webhooks list shows them.`],
  [`ping ${UNKNOWN_ID}`, 1, `There is no endpoint ${UNKNOWN_ID}`],
  [`redeliver ${UNKNOWN_ID}`, 1, `There is no delivery ${UNKNOWN_ID}`],
  ['redeliver', 2, 'takes either delivery ids, or --since and --until'],
  [`redeliver ${UNKNOWN_ID} --since 2026-01-05T03:00:00Z`, 2, 'takes either delivery ids, or --since and --until'],
  ['redeliver --since 2026-01-05T03:00:00Z', 2, 'takes either delivery ids, or --since and --until'],
  ['redeliver 17', 2, 'must be a UUID'],
  ['deliveries --since 2026-01-05T03:00:00Z --until 2026-01-04T03:00:00Z', 2, '--since must not be after --until'],
  ['redeliver --since 2026-01-05T03:00:00Z --until 2026-01-04T03:00:00Z', 2, '--since must not be after --until'],
  ['deliveries --since yesterday', 2, "--since must be a timestamp such as 2026-01-31T09:00:00Z, not 'yesterday'"],
  ['deliveries --status lost', 2, '--status must be pending, delivered or dead'],
  [`rotate-secret ${UNKNOWN_ID} --overlap soon`, 2, '--overlap must be a duration from 0s to 365d'],
  ['create --merchant MERCHANT --url http://10.0.0.1/', 1, 'must not lead to 10.0.0.1, which is private'],
])('prints the error of %s', async (line, exitCode, message) => {
  const outcome = await lunas(line.replace('MERCHANT', ledger.merchantId));
  expect([outcome.exitCode, outcome.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
});

it('registers addresses that the environment allows', async () => {
  const production = await createProductionDatabase();
  const live = await productionOperator(production.url);
  const created = await runLunas(['merchants', 'create', '--name', 'Toko', '--note', 'contract', '--json'], live);
  const { merchant } = JSON.parse(created.stdout);
  const create = (url: string, changes: NodeJS.ProcessEnv, merchantId: string = ledger.merchantId) =>
    lunas(`create --merchant ${merchantId} --url ${url} --note contract`, changes);
  const open = { WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, fd00::/8' };
  const outcomes = await Promise.all([
    create('http://10.0.0.1:4000/', open),
    create('https://[fd00::1]/', { ...open, ...live }, merchant.id),
    create('http://127.0.0.1:4000/', open),
    create('https://127.0.0.1/', live, merchant.id),
    create('https://shop.example/', { WEBHOOK_ALLOWED_NETWORKS: 'the office' }),
  ]);
  await production.drop();
  expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 1, 1, 1]);
  expect(outcomes[4]?.stderr).toContain(
    'WEBHOOK_ALLOWED_NETWORKS: must be addresses and networks, separated by commas (10.0.0.0/8,fd00::/8)',
  );
});

function never(): never {
  throw new Error('No webhook came');
}

it('changes the URL, the events and the members of an endpoint, and records it', async () => {
  const { id } = await register();
  const { endpoint } = await json(`set ${id} --url http://127.0.0.1:9/moved --event payment.paid`);
  expect(endpoint).toMatchObject({ id, url: 'http://127.0.0.1:9/moved', events: ['payment.paid'] });
  expect((await json(`set ${id} --all-events`)).endpoint).toMatchObject({ url: endpoint.url, events: null });
  const expanding = await json(`set ${id} --expand settlement --expand metadata`);
  expect(expanding.endpoint).toMatchObject({ events: null, expand: ['metadata', 'settlement'] });
  expect((await lunas('list')).stdout).toContain('metadata, settlement');
  expect((await json(`set ${id} --no-expand`)).endpoint.expand).toEqual([]);
  for (const options of [
    '',
    '--expand cart',
    '--event payment.paid --all-events',
    '--url http://10.0.0.1/',
    '--url ftp://x',
  ]) {
    expect([options, (await lunas(`set ${id} ${options}`)).exitCode]).not.toEqual([options, 0]);
  }
  const { rows } = await ledger.db.query("select target from operator_actions where action = 'webhook.set'");
  expect(rows.length).toBeGreaterThanOrEqual(2);
  expect(new Set(rows.map(({ target }) => target))).toEqual(new Set([id]));
});

it('deletes an endpoint: its delivery is dead, and cannot be redelivered', async () => {
  const { id } = await register();
  const delivery = await newDelivery();
  expect((await lunas(`delete ${id}`)).stdout).toBe(`The endpoint ${id} is deleted.\n`);
  expect((await json('list')).endpoints).toEqual([]);
  expect((await json('deliveries')).deliveries).toMatchObject([{ id: delivery.id, status: 'dead' }]);
  const rejected = await lunas(`redeliver ${delivery.id}`);
  expect(rejected.stderr).toBe(`error: The endpoint of the delivery ${delivery.id} is deleted.\n`);
  expect((await lunas(`delete ${id}`)).stderr).toContain(`There is no endpoint ${id}`);
});
