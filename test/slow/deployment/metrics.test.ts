import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createSealer } from '../../../src/crypto/sealing';
import { createSecretKey } from '../../../src/crypto/secret-key';
import { freePort } from '../../../src/local-stack/ports';
import { METRICS } from '../../../src/observability/definitions';
import { measureCalls } from '../../../src/providers/calls/measure-calls';
import { wrapCalls } from '../../../src/providers/calls/wrap-calls';
import { createMidtransProvider } from '../../../src/providers/midtrans/midtrans-provider';
import { startWorkerMetrics } from '../../../src/worker/worker-metrics';
import { startTestApis } from '../../support/api';
import { asSuperuser } from '../../support/backdate';
import { SILENT } from '../../support/collect-log';
import { eventually } from '../../support/eventually';
import { runBuiltLunas } from '../../support/lunas-process';
import { changes, fetchMetrics, parseSeries, promtoolProblems, type Series } from '../../support/metrics-page';
import { startReceiver, type Receiver } from '../../support/receiver';
import { insertCatalog, seedPayments } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { registerEndpoint } from '../../support/webhooks';

const LOOPBACK = '127.0.0.1';
const MERCHANTS = 1_000;
const MAX_SERIES = 500;
const ACCOUNTS = 12;

let service: TestService;
let receiver: Receiver;
let temporal: TcpProxy;
let apiPage: string;
let workerPage: string;
let accountId: string;

beforeAll(async () => {
  const namespace = await newNamespace();
  temporal = await startTcpProxy(namespace.address);
  const metrics = {
    api: { host: LOOPBACK, port: await freePort() },
    worker: { host: LOOPBACK, port: await freePort() },
  };
  apiPage = `http://${LOOPBACK}:${metrics.api.port}`;
  workerPage = `http://${LOOPBACK}:${metrics.worker.port}`;
  service = await startTestService({ ...namespace, address: temporal.address }, { metrics });
  receiver = await startReceiver();
  await addEndpoint();
  const { rows } = await service.db.query<{ id: string }>("select id from provider_accounts where provider = 'gopay'");
  accountId = rows[0]?.id ?? '';
});
afterAll(async () => {
  await temporal.restore();
  await service.close();
  await Promise.all([receiver.close(), temporal.close()]);
});
afterEach(() => {
  receiver.respond = (response) => response.writeHead(200).end();
});

async function addEndpoint(): Promise<void> {
  const endpoint = { merchantId: service.merchantId, url: receiver.url, events: [] } as const;
  await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
}

const createPayment = () => service.call('POST', '/payments', { amount: 50_000 });
const read = async (url = workerPage): Promise<Series> => parseSeries(await fetchMetrics(url));

const requests = (method: string, route: string, status: string) =>
  `lunas_http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`;
const rejected = (code: string) => `lunas_http_requests_rejected_total{code="${code}"}`;
const creates = (outcome: string) => `lunas_creates_total{outcome="${outcome}"}`;
const received = (outcome: string) => `lunas_notifications_received_total{outcome="${outcome}"}`;
const UNSIGNED = JSON.stringify({
  order_id: 'LN1',
  status_code: '200',
  gross_amount: '50000.00',
  signature_key: '0'.repeat(128),
  transaction_status: 'settlement',
  transaction_id: 'tx-1',
});
const transition = (name: string) => `lunas_payment_transitions_total{transition="${name}"}`;
const deliveries = (outcome: string) => `lunas_webhook_deliveries_total{outcome="${outcome}"}`;
const attempts = (outcome: string) => `lunas_webhook_attempt_duration_seconds_count{outcome="${outcome}"}`;
const providerCalls = (operation: string, outcome: string) =>
  'lunas_provider_request_duration_seconds_count' +
  `{account="${accountId}",operation="${operation}",outcome="${outcome}"}`;

/** What a creation that succeeds moves. Its two events are delivered. */
const CREATION = () => ({
  [requests('POST', '/payments', '2xx')]: 1,
  [creates('completed')]: 1,
  [transition('create')]: 1,
  [transition('issue')]: 1,
  [providerCalls('issue_qris', 'accepted')]: 1,
});
const DELIVERED = () => ({ [deliveries('delivered')]: 2, [attempts('delivered')]: 2 });

/** A receiver that rejects the event of the QR, and accepts the others. */
function rejectPending(status: number): void {
  receiver.respond = (response, { body }) => response.writeHead(body.event === 'payment.pending' ? status : 200).end();
}

interface Case {
  readonly plant: () => Promise<unknown>;
  readonly moves: () => Readonly<Record<string, number>>;
}

const CASES: Readonly<Record<string, Case>> = {
  'a payment': { plant: createPayment, moves: () => ({ ...CREATION(), ...DELIVERED() }) },
  'a customer who pays': {
    plant: async () => {
      const { body } = await createPayment();
      await service.pay(body.payment.reference_id);
    },
    moves: () => ({
      ...CREATION(),
      [requests('POST', '/provider-notifications/:account', '2xx')]: 1,
      [received('verified')]: 1,
      [providerCalls('find_payment', 'found')]: 1,
      [transition('pay')]: 1,
      'lunas_payments_confirmed_total{cause="notification"}': 1,
      [deliveries('delivered')]: 3,
      [attempts('delivered')]: 3,
    }),
  },
  'a notification that is not signed': {
    plant: () => fetch(`${service.apiUrl}/provider-notifications/${accountId}`, { method: 'POST', body: UNSIGNED }),
    moves: () => ({
      [requests('POST', '/provider-notifications/:account', '4xx')]: 1,
      [received('invalid_signature')]: 1,
      [rejected('not_found')]: 1,
    }),
  },
  'a notification for an account that does not exist': {
    plant: () => fetch(`${service.apiUrl}/provider-notifications/${randomUUID()}`, { method: 'POST', body: UNSIGNED }),
    moves: () => ({
      [requests('POST', '/provider-notifications/:account', '4xx')]: 1,
      [received('unknown_account')]: 1,
      [rejected('not_found')]: 1,
    }),
  },
  'an unknown key': {
    plant: () => service.call('GET', `/payments/${randomUUID()}`, undefined, { authorization: 'Bearer sk_test_x' }),
    moves: () => ({
      [requests('GET', '/payments/:id', '4xx')]: 1,
      [rejected('invalid_api_key')]: 1,
      'lunas_keys_rejected_total{owner="merchant"}': 1,
    }),
  },
  'a path that is no route': {
    plant: () => fetch(`${service.apiUrl}/nothing/${randomUUID()}`),
    moves: () => ({ [requests('any', 'none', '4xx')]: 1, [rejected('not_found')]: 1 }),
  },
  'an acquirer that rejects the order': {
    plant: async () => {
      await service.injectFault('charge', 'reject');
      await createPayment();
    },
    moves: () => ({
      [requests('POST', '/payments', '4xx')]: 1,
      [rejected('payment_create_failed')]: 1,
      [creates('completed')]: 1,
      [transition('create')]: 1,
      [transition('fail_creation')]: 1,
      [providerCalls('issue_qris', 'account_rejected')]: 1,
      ...DELIVERED(),
    }),
  },
  'an acquirer that fails once': {
    plant: async () => {
      await service.injectFault('charge', 'http_500');
      await createPayment();
    },
    moves: () => ({
      ...CREATION(),
      [providerCalls('issue_qris', 'indeterminate')]: 1,
      [providerCalls('find_payment', 'not_found')]: 1,
      ...DELIVERED(),
    }),
  },
  'a database that rejects a statement': {
    plant: async () => {
      await service.db.query('alter table policies rename to hidden_policies');
      await createPayment();
      await service.db.query('alter table hidden_policies rename to policies');
    },
    moves: () => ({ [requests('POST', '/payments', '5xx')]: 1, [rejected('server_error')]: 1 }),
  },
};

/** Durations and gauges change all the time; test/db/gauges.test.ts has the gauges. */
function isCount(name: string): boolean {
  return name.startsWith('lunas_') && /_(?:total|count)(?:[{]|$)/.test(name);
}

async function expectMoves({ plant, moves }: Case): Promise<void> {
  const before = await read();
  await plant();
  const counted = async () =>
    Object.fromEntries(Object.entries(changes(before, await read())).filter(([name]) => isCount(name)));
  const total = (counts: Readonly<Record<string, number>>) =>
    Object.values(counts).reduce((sum, each) => sum + each, 0);
  const found = await eventually(counted, (counts) => total(counts) >= total(moves()));
  expect(found).toEqual(moves());
}

it.each(Object.entries(CASES))('%s moves exactly its counters', (_name, planted) => expectMoves(planted));

it('a receiver that is gone counts each dead delivery once, with an attempt or without', async () => {
  const held: ServerResponse[] = [];
  receiver.respond = (response) => held.push(response);
  const before = await read();
  await createPayment();
  await eventually(
    () => Promise.resolve(held.length),
    (count) => count === 2,
  );
  for (const response of held) response.writeHead(410).end();
  const counted = async () => {
    const all = Object.entries(changes(before, await read()));
    return Object.fromEntries(all.filter(([name]) => name.startsWith('lunas_webhook')));
  };
  // The second attempt ends after the first one has disabled the endpoint.
  const areCounted = (counts: Readonly<Record<string, number>>) =>
    counts[attempts('failed')] === 2 && (counts[deliveries('dead')] ?? 0) >= 2;
  const found = await eventually(counted, areCounted);
  expect(found[deliveries('dead')]).toBe(2);
  expect(found[deliveries('retried')]).toBeUndefined();
});

it('a creation that is not admitted moves exactly its counters', async () => {
  const address = { host: LOOPBACK, port: await freePort() };
  const apis = await startTestApis([{ metrics: address, maxCreatesInFlight: 0 }]);
  try {
    await insertCatalog(apis.db);
    const { secret } = await apis.newKey();
    const page = () => read(`http://${LOOPBACK}:${address.port}`);
    const before = await page();
    const response = await fetch(`${apis.urls[0]}/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: '{"amount":50000}',
    });
    expect(response.status).toBe(429);
    const counted = Object.entries(changes(before, await page())).filter(([name]) => isCount(name));
    expect(Object.fromEntries(counted)).toEqual({
      [requests('POST', '/payments', '4xx')]: 1,
      [rejected('rate_limited')]: 1,
      lunas_admission_rejected_total: 1,
      [creates('no_capacity')]: 1,
    });
  } finally {
    await apis.close();
  }
});

/** The last test that compares counters: the retry comes at any time after it. */
it('a receiver that fails moves exactly its counters', async () => {
  await addEndpoint();
  const plant = () => {
    rejectPending(500);
    return createPayment();
  };
  const moves = () => ({
    ...CREATION(),
    [deliveries('delivered')]: 1,
    [attempts('delivered')]: 1,
    [deliveries('retried')]: 1,
    [attempts('failed')]: 1,
  });
  await expectMoves({ plant, moves });
});

it('only the worker exports what PostgreSQL has, and both export their process', async () => {
  const [api, worker] = [await fetchMetrics(apiPage), await fetchMetrics(workerPage)];
  expect(api).toContain('lunas_database_pool_connections{pool="requests"');
  expect(api).not.toContain('lunas_payments_open');
  expect(worker).toContain('lunas_payments_open{status="pending",age="under_1h"}');
  expect(worker).toContain('temporal_workflow_task_execution_latency_seconds_count');
});

it(`metrics of ${MERCHANTS} merchants have at most ${MAX_SERIES} series, and promtool reports nothing`, async () => {
  for (let account = 0; account < ACCOUNTS; account += 1) await callProvider(`account-${account}`);
  const secrets = await insertMerchants();
  for (let start = 0; start < secrets.length; start += 50) {
    await Promise.all(secrets.slice(start, start + 50).map((secret) => useApi(secret)));
  }
  for (const url of [apiPage, workerPage]) {
    const page = await fetchMetrics(url);
    expect(promtoolProblems(page)).toBe('');
    expect(parseSeries(page).size).toBeLessThanOrEqual(MAX_SERIES);
    expect(parseSeries(page).get(requests('GET', '/transactions', '2xx'))).toBe(MERCHANTS);
    const accounts = new Set([...page.matchAll(/account="([^"]+)"/g)].map(([, account]) => account));
    expect(accounts.size).toBeLessThanOrEqual(9);
    expect(accounts).toContain('other');
  }
});

it('promtool reports a page that breaks the conventions', () => {
  expect(promtoolProblems('# TYPE lunas_requests counter\nlunas_requests 1\n')).toContain('lunas_requests');
});

it('each exported metric of Lunas is in the table', async () => {
  const exported = [...(await fetchMetrics(workerPage)).matchAll(/^# TYPE ((?:lunas|process)_\w+)/gm)];
  expect(exported.map(([, name]) => name).filter((name) => name === undefined || !(name in METRICS))).toEqual([]);
});

it('a worker without PostgreSQL serves the other metrics', async () => {
  const address = { host: LOOPBACK, port: await freePort() };
  const { workflows, db } = service;
  const metrics = await startWorkerMetrics(
    { metrics: address, databaseUrl: `postgresql://${LOOPBACK}:9/none`, roles: ['sweeper'], log: SILENT },
    { db, workflows, workers: [], sdkMetrics: undefined, stopSignal: new AbortController().signal },
  );
  try {
    const url = `http://${LOOPBACK}:${address.port}`;
    const page = await read(url);
    expect(page.get('lunas_dependency_up{dependency="postgresql"}')).toBe(0);
    expect(page.get('lunas_dependency_up{dependency="temporal"}')).toBe(1);
    expect([...page.keys()].filter((name) => name.startsWith('lunas_payments_open'))).toEqual([]);
    const probe = await fetch(`${url}/readyz`);
    expect([probe.status, await probe.json()]).toEqual([
      503,
      { status: 'not_ready', postgresql: 'down', temporal: 'up', worker: 'running' },
    ]);
  } finally {
    await metrics?.close();
  }
});

it('a worker without Temporal is alive and not ready, and its metrics show it', async () => {
  const probe = async (path: string) => (await fetch(workerPage + path)).status;
  const isUp = async () => (await read()).get('lunas_dependency_up{dependency="temporal"}');
  expect([await probe('/healthz'), await probe('/readyz'), await isUp()]).toEqual([200, 200, 1]);
  await temporal.cut();
  expect(
    await eventually(
      () => probe('/readyz'),
      (status) => status === 503,
    ),
  ).toBe(503);
  expect(await eventually(isUp, (value) => value === 0)).toBe(0);
  expect(await probe('/healthz')).toBe(200);
  expect((await read()).get('lunas_dependency_up{dependency="postgresql"}')).toBe(1);
  await temporal.restore();
  expect(
    await eventually(
      () => probe('/readyz'),
      (status) => status === 200,
      60_000,
    ),
  ).toBe(200);
});

it('one late settlement behind 2,000 with manual settlement is on the page, and first in the list', async () => {
  const overdue = async () => (await read()).get('lunas_payments_needing_attention{reason="overdue"}');
  expect(await overdue()).toBe(0);
  const from = '2026-01-01T00:00:00Z';
  await seedPayments(service.db, service.merchantId, { count: 2_001, from, rareOneIn: 1_000_000, sameReference: 1 });
  // One that was seeded: the workflow of a real payment settles it.
  const { rows } = await service.db.query<{ late: string }>(
    "select max(reference_id) as late from payments where created_at < '2026-02-01'",
  );
  const late = rows[0]?.late ?? '';
  await asSuperuser(
    service.db,
    `update payments set status = 'paid', settlement_kind = 'manual', settlement_due_at = now() - interval '1 day'
      where created_at < '2026-02-01'`,
    `update payments set settlement_kind = 'automatic', settlement_due_at = now() - interval '6 minutes',
      created_at = now() - interval '7 minutes', status = 'paid' where reference_id = '${late}'`,
  );
  expect(await eventually(overdue, (count) => count !== 0)).toBe(1);
  const { stdout } = await runBuiltLunas(['payments', 'list', '--overdue', '--json'], {
    DATABASE_URL: service.operatorDatabaseUrl,
    LUNAS_HOME: '/nonexistent',
  });
  const listed: { readonly payments: readonly { readonly reference_id: string }[] } = JSON.parse(stdout);
  expect(listed.payments.map(({ reference_id }) => reference_id)).toEqual([late]);
});

/** A call to an acquirer that does not exist. */
async function callProvider(account: string): Promise<void> {
  const access = { baseUrl: `http://${LOOPBACK}:9`, serverKey: 'none', notificationUrl: 'http://127.0.0.1:9' };
  const client = createMidtransProvider(access);
  const call = { signal: AbortSignal.timeout(10_000), deadlineAtMs: Date.now() + 10_000 };
  expect(
    await wrapCalls(client, measureCalls(account)).findPayment({ referenceId: 'LN1', issued: null }, call),
  ).toMatchObject({
    outcome: 'indeterminate',
  });
  await client.close();
}

/** @returns a key of each */
async function insertMerchants(): Promise<string[]> {
  const keys = Array.from({ length: MERCHANTS }, () => createSecretKey('sandbox', '00'));
  await service.db.query(
    `with merchant as (
       insert into merchants (id, name, status) select gen_random_uuid(), 'Toko', 'approved'
       from generate_series(1, $1) returning id
     )
     insert into api_keys (id, merchant_id, secret_sha256, prefix, last_four)
     select gen_random_uuid(), merchant.id, key.hash, 'sk_test_', 'abcd'
     from (select id, row_number() over () as n from merchant) merchant
     join unnest($2::bytea[]) with ordinality as key (hash, n) on key.n = merchant.n`,
    [MERCHANTS, keys.map(({ secretSha256 }) => secretSha256)],
  );
  return keys.map(({ secret }) => secret);
}

async function useApi(secret: string): Promise<void> {
  await service.call('GET', '/transactions', undefined, { authorization: `Bearer ${secret}` });
}
