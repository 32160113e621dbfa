import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../../../src/local-stack/ports';
import { METRICS } from '../../../src/observability/definitions';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { startDashboardProcess, type DashboardProcess } from '../../support/api-process';
import { eventually } from '../../support/eventually';
import { runBuiltLunas } from '../../support/lunas-process';
import { fetchMetrics, parseSeries, promtoolProblems } from '../../support/metrics-page';
import { createPage } from '../../support/payment-page';
import { signIn } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';

/* The built `lunas dashboard` as a process of production: probes, metrics, drain, and servers that are away. */

const UNAVAILABLE = DASHBOARD_TEXTS.id.problems.unavailable;
/** Several times the limits of statements and connections. */
const RESPONSE_TIMEOUT_MS = 60_000;

let service: TestService;
let postgres: TcpProxy;
let temporal: TcpProxy;
let token: string;
let code: string;
const running: DashboardProcess[] = [];

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  postgres = await startTcpProxy(new URL(service.dashboardDatabaseUrl).host);
  temporal = await startTcpProxy(service.temporal.address);
  ({ token } = await signIn(service.db, DEMO_OWNER_EMAIL));
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [
    service.merchantId,
  ]);
  code = rows[0]?.code ?? '';
});
afterEach(async () => {
  await Promise.all([postgres.restore(), temporal.restore()]);
  await Promise.all(running.splice(0).map((dashboard) => dashboard.stop()));
});
afterAll(async () => {
  await Promise.all([postgres.close(), temporal.close()]);
  await service.close();
});

/** A process that reaches PostgreSQL and Temporal through the proxies. */
async function start(changes: NodeJS.ProcessEnv = {}): Promise<DashboardProcess> {
  const databaseUrl = new URL(service.dashboardDatabaseUrl);
  databaseUrl.host = postgres.address;
  const addresses = { DATABASE_URL: databaseUrl.href, TEMPORAL_ADDRESS: temporal.address };
  const dashboard = await startDashboardProcess(service, { ...addresses, ...changes });
  running.push(dashboard);
  return dashboard;
}

function get({ url, cookieName }: DashboardProcess, path: string, headers: Record<string, string> = {}) {
  return fetch(url + path, {
    headers: { cookie: `${cookieName}=${token}`, ...headers },
    redirect: 'manual',
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  });
}

const list = (dashboard: DashboardProcess) => get(dashboard, `/m/${code}/payments`);

it('the dashboard is alive and ready, and its metrics have its requests by the pattern of their route', async () => {
  const port = await freePort();
  const dashboard = await start({ METRICS_PORT: String(port), DATABASE_POOL_SIZE: '9' });
  expect((await list(dashboard)).status).toBe(200);
  expect((await get(dashboard, '/healthz')).status).toBe(200);
  const readiness = await get(dashboard, '/readyz');
  expect([readiness.status, await readiness.json()]).toEqual([
    200,
    { status: 'ready', postgresql: 'up', temporal: 'up' },
  ]);
  const page = await fetchMetrics(`http://127.0.0.1:${port}`);
  expect(promtoolProblems(page)).toBe('');
  const series = parseSeries(page);
  const requests = 'lunas_http_request_duration_seconds_count{method="GET",route="/m/:code/payments",status="2xx"}';
  expect(series.get(requests)).toBe(1);
  expect(series.get('lunas_database_pool_max_connections{pool="requests"}')).toBe(9);
  expect(series.get('lunas_database_pool_max_connections{pool="readiness"}')).toBe(1);
  // Only workers export what PostgreSQL has, and no page of metrics names a merchant.
  expect(page).not.toContain('lunas_payments_open');
  expect(page).not.toContain(code);
  const exported = [...page.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name);
  expect(exported.filter((name) => !(name in METRICS))).toEqual([]);
});

it('SIGTERM: not ready first, new connections are served for the drain time, streams and the process end', async () => {
  const dashboard = await start({ DRAIN_SECONDS: '8' });
  const { referenceId } = await createPage(service);
  const stream = await get(dashboard, `/m/${code}/payments/${referenceId}/events`, { accept: 'text/event-stream' });
  expect(stream.headers.get('content-type')).toContain('text/event-stream');
  const streamed = stream.text();
  const stopped = dashboard.stop();
  const readiness = await eventually(
    () => get(dashboard, '/readyz'),
    ({ status }) => status === 503,
  );
  expect(await readiness.json()).toMatchObject({ status: 'not_ready', postgresql: 'up' });
  const page = await list(dashboard);
  expect([page.status, page.headers.get('connection')]).toEqual([200, 'close']);
  expect(await streamed).toContain('retry:');
  expect(await stopped).toBe(0);
  await expect(get(dashboard, '/healthz')).rejects.toThrow('fetch failed');
});

it('SIGTERM: a page in flight is complete before the process ends', async () => {
  const dashboard = await start();
  const holder = await service.db.connect();
  let page: Promise<Response>;
  let stopped: Promise<number | null>;
  try {
    await holder.query('begin');
    await holder.query('lock table payments in access exclusive mode');
    page = list(dashboard);
    await eventually(
      () => holder.query("select 1 from pg_locks where relation = 'payments'::regclass and not granted"),
      ({ rows }) => rows.length > 0,
    );
    stopped = dashboard.stop();
    await eventually(
      () =>
        get(dashboard, '/healthz').then(
          () => 'connected',
          (error: Error) => String(error.cause),
        ),
      (outcome) => outcome.includes('ECONNREFUSED'),
    );
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  const response = await page;
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('</html>')]);
  expect(await stopped).toBe(0);
});

it.each(['stopped', 'silent'])(
  'PostgreSQL %s: pages are 503 with one sentence, and work again after it',
  async (how) => {
    const dashboard = await start();
    expect((await list(dashboard)).status).toBe(200);
    if (how === 'stopped') await postgres.cut();
    else postgres.hang();
    const response = await list(dashboard);
    const page = await response.text();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(page).toContain(UNAVAILABLE.title);
    expect(page).toContain(UNAVAILABLE.text);
    expect(page).not.toMatch(/ECONN|Error|timeout|at \/|lunas_local/);
    expect((await get(dashboard, '/healthz')).status).toBe(200);
    // A check of Temporal can be late on a busy machine.
    const readiness = await eventually(
      async () => {
        const response = await get(dashboard, '/readyz');
        return { status: response.status, body: await response.json() };
      },
      ({ body }) => body.temporal === 'up',
    );
    const body = { status: 'not_ready', postgresql: 'down', temporal: 'up' };
    expect(readiness).toEqual({ status: 503, body });
    await postgres.restore();
    const recovered = await eventually(
      () => list(dashboard),
      ({ status }) => status === 200,
    );
    expect(await recovered.text()).not.toContain(UNAVAILABLE.text);
    // Its state is up to a second old.
    await eventually(
      () => get(dashboard, '/readyz'),
      ({ status }) => status === 200,
    );
  },
);

it('a process that starts while PostgreSQL is away is not ready, and serves when it is back', async () => {
  await postgres.cut();
  const dashboard = await start({ LUNAS_ENVIRONMENT: 'sandbox' });
  expect((await get(dashboard, '/readyz')).status).toBe(503);
  await postgres.restore();
  await eventually(
    () => get(dashboard, '/readyz'),
    ({ status }) => status === 200,
  );
  expect((await list(dashboard)).status).toBe(200);
});

it('Temporal stopped: pages work, the process stays ready, and only readiness for creates is 503', async () => {
  const dashboard = await start();
  await temporal.cut();
  await eventually(
    () => get(dashboard, '/readyz?for=creates'),
    ({ status }) => status === 503,
  );
  const readiness = await get(dashboard, '/readyz');
  expect([readiness.status, await readiness.json()]).toMatchObject([200, { postgresql: 'up' }]);
  expect((await list(dashboard)).status).toBe(200);
});

it('429 beyond the connections of one client; it serves the others', async () => {
  const dashboard = await start({ MAX_CONNECTIONS_PER_CLIENT: '3' });
  const sockets = Array.from({ length: 3 }, () => connect(Number(new URL(dashboard.url).port), '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const rejected = await eventually(
    () => get(dashboard, '/healthz'),
    ({ status }) => status === 429,
  );
  expect(rejected.headers.get('retry-after')).toBe('1');
  expect(await rejected.text()).toContain('<!doctype html>');
  for (const socket of sockets) socket.destroy();
  const served = await eventually(
    () => list(dashboard),
    ({ status }) => status === 200,
  );
  expect(served.status).toBe(200);
});

it('the help of the dashboard names the variables that it needs', async () => {
  const { exitCode, stdout } = await runBuiltLunas(['dashboard', '--help'], {});
  expect(exitCode).toBe(0);
  for (const name of ['DASHBOARD_URL', 'DASHBOARD_PORT', 'DATABASE_URL']) expect(stdout).toContain(name);
});
