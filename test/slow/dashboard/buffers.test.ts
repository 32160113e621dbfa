import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { gracefulShutdown } from '../../../src/lib/graceful-shutdown';
import { freePort } from '../../../src/local-stack/ports';
import { createLogger } from '../../../src/observability/logger';
import { createDashboardApp } from '../../../src/servers/dashboard-app';
import { openDashboard, type OpenDashboard } from '../../../src/servers/dashboard-dependencies';
import { connectClient } from '../../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../../src/temporal/payload-codec';
import { PaymentWorkflowClient } from '../../../src/temporal/payment-workflow-client';
import { listUnmeasuredRoutes, measuredPages, type FilledMerchant } from '../../support/dashboard-pages';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { explainQueries, type ExplainedStatement } from '../../support/explain';
import { fillMerchant, readFilledMerchant } from '../../support/fill-merchant';
import { createMember, createShop, signIn } from '../../support/people';
import { fillTotals, insertCatalog } from '../../support/seed-payments';
import { NO_LIMITS } from '../../support/service';
import { bySize } from '../../support/size';
import { temporalAddress } from '../../support/temporal';

/** What each page reads of PostgreSQL, when a merchant has some payments and when it has many. */

const SMALL = 100_000;
const LARGE = bySize({ small: 600_000, full: 1_000_000 });
const MAX_BUFFERS = 200;
/** Deeper indexes have one more page on each way down. */
const MAX_GROWTH = 1.1;
/** A page of few buffers may read some more. */
const GROWTH_FREE = 12;
/** More than any page needs: every execution counts. */
const ALL = 1_000;
/** Pages that read the rows of a period, of which there are fewer while the merchant is new. */
const OF_A_PERIOD: ReadonlySet<string> = new Set(['/m/:code', '/m/:code/balance']);
const OWNER = 'owner@filled.test';
const TIMEOUT_MS = 1_200_000;

let database: TestDatabase;
let db: Pool;
let pages: Pool;
let dashboard: OpenDashboard;
let origin: URL;
let token: string;
let merchant: FilledMerchant;
let filling: Parameters<typeof fillMerchant>[1];

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 4, statementTimeoutMs: TIMEOUT_MS });
  const { id: merchantId } = await createShop(db);
  await createMember(db, OWNER, [[merchantId, 'owner']]);
  ({ token } = await signIn(db, OWNER));
  const [policyId, accountId] = await insertCatalog(db);
  filling = { merchantId, policyId, accountId };
  const port = await freePort();
  origin = new URL(`http://localhost:${port}`);
  const databaseUrl = database.urlOf('lunas_local_dashboard');
  pages = createPool(databaseUrl, { max: 8 });
  const client = connectClient({ address: temporalAddress(), namespace: 'default', security: {} }, NO_PAYLOAD_KEYS);
  const urls = { dashboardUrl: origin.origin, publicBaseUrl: 'http://localhost:3000', databaseUrl };
  const masterKey = randomBytes(32).toString('base64');
  const settings = { ...NO_LIMITS, ...urls, masterKey, environment: 'sandbox', log: createLogger('test', 'silent') };
  dashboard = openDashboard({ ...settings, environment: 'sandbox' }, () => new PaymentWorkflowClient(client));
}, TIMEOUT_MS);
afterAll(async () => {
  await dashboard.close();
  await Promise.all([db.end(), pages.end()]);
  await database.drop();
}, TIMEOUT_MS);

it('each page has a line in the table', () => {
  expect(listUnmeasuredRoutes()).toEqual([]);
});

/** What a page read: of each execution the worse of its two plans. */
interface Measurement {
  readonly buffers: number;
  readonly statements: number;
  readonly worst: ExplainedStatement | undefined;
}

function measurementOf(explained: readonly ExplainedStatement[]): Measurement {
  const executions: ExplainedStatement[] = [];
  for (const each of explained) {
    const last = executions.at(-1);
    if (each.planMode === 'custom' || last === undefined) executions.push(each);
    else if (each.buffers > last.buffers) executions[executions.length - 1] = each;
  }
  return {
    buffers: executions.reduce((sum, { buffers }) => sum + buffers, 0),
    statements: executions.length,
    worst: executions.toSorted((one, other) => other.buffers - one.buffers)[0],
  };
}

/** Requests a page from an app whose statements are explained. */
async function measure(path: string, isSignedOut: boolean): Promise<Measurement> {
  const { db: explaining, explained } = explainQueries(pages, ALL);
  const dependencies = { ...dashboard.dependencies, db: explaining, origin };
  const server: Server = createServer(createDashboardApp(dependencies, { trustProxy: 0, hasDevelopmentLinks: false }));
  const close = gracefulShutdown(server, { timeoutMs: 1_000 });
  await new Promise<void>((resolve) => server.listen(Number(origin.port), '127.0.0.1', resolve));
  try {
    const cookie = isSignedOut ? '' : `lunas_dashboard_${origin.port}=${token}`;
    const headers = { cookie, connection: 'close' };
    const response = await fetch(new URL(path, origin), { headers, redirect: 'manual' });
    expect([path, response.status]).toEqual([path, response.status === 303 ? 303 : 200]);
    await response.text();
  } finally {
    await close();
  }
  return measurementOf(explained);
}

async function measureAll(): Promise<Map<string, Measurement>> {
  const measured = new Map<string, Measurement>();
  for (const [route, { paths, isSignedOut = false }] of measuredPages()) {
    const all = paths(merchant);
    expect([route, all.length > 0]).toEqual([route, true]);
    for (const path of all) {
      // The first one also writes what is written once a minute, or once after a row has changed.
      const both = [await measure(path, isSignedOut), await measure(path, isSignedOut)];
      const least = both.toSorted((one, other) => one.buffers - other.buffers)[0];
      if (least) measured.set(path.replace(merchant.code, ':code'), least);
    }
  }
  return measured;
}

/** The totals are counted, as the job of the worker does every five seconds. */
async function fill(first: number, last: number): Promise<void> {
  await fillMerchant(db, filling, first, last);
  await fillTotals(db, filling.merchantId);
  await db.query(
    'update totals_progress set counted_at = now(), transition_number = (select max(number) from payment_transitions)',
  );
  // The test's server commits asynchronously. Until the commits are on disk, a vacuum does not mark pages as visible.
  await db.query('checkpoint');
  await db.query('vacuum analyze payment_hour_totals, totals_progress');
}

const growthOf = (small: number, large: number) => Math.max(large - GROWTH_FREE, 0) / small;

it(
  `each page reads fewer than ${MAX_BUFFERS} buffers at ${SMALL} payments, and about as many at ${LARGE}`,
  async () => {
    await fill(1, SMALL);
    merchant = await readFilledMerchant(db, filling.merchantId);
    const small = await measureAll();
    await fill(SMALL + 1, LARGE);
    const largest = await measureAll();
    const lines = [...largest].map(([path, { buffers, statements }]) => ({
      path,
      statements,
      small: small.get(path)?.buffers ?? NaN,
      large: buffers,
    }));
    console.info(lines.map((line) => `${line.small}\t${line.large}\t${line.statements}\t${line.path}`).join('\n'));
    const most = (path: string, buffers: number) => Math.max(buffers, small.get(path)?.buffers ?? Infinity);
    const tooMany = [...largest].filter(([path, { buffers }]) => most(path, buffers) >= MAX_BUFFERS);
    expect(tooMany.map(([path, { buffers, worst }]) => `${path}: ${buffers}\n${worst?.plan}`)).toEqual([]);
    // The sum of a day has a row for each hour and status: with fewer payments the day has fewer hours.
    const isFree = (path: string) => OF_A_PERIOD.has(path) || path.includes('&to=');
    const grown = lines.filter(({ path, small, large }) => growthOf(small, large) >= MAX_GROWTH && !isFree(path));
    expect(grown.map((line) => [line, largest.get(line.path)?.worst?.plan])).toEqual([]);
  },
  TIMEOUT_MS,
);
