import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../src/local-stack/ports';
import {
  startApiProcess,
  startDashboardProcess,
  type ApiProcess,
  type DashboardProcess,
} from '../../support/api-process';
import { measuredPages, type FilledMerchant, type PageKind } from '../../support/dashboard-pages';
import { eventually } from '../../support/eventually';
import { fillMerchant, readFilledMerchant } from '../../support/fill-merchant';
import { fetchMetrics, parseSeries } from '../../support/metrics-page';
import { createPage } from '../../support/payment-page';
import { signInMany } from '../../support/people';
import { insertCatalog } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { percentile } from '../closed-loop';

/** What the dashboard costs with a thousand users, beside an API in a process of its own. */

const USERS = 1_000;
const VIEWERS = 200;
/** As many as a payment may have. */
const VIEWERS_OF_PAYMENT = 10;
/** One page each in 15 s. */
const PAGES_PER_SECOND = USERS / 15;
const PAGES_AT_A_TIME = 32;
const POOL_SIZE = 9;
const MAX_PAGE_BYTES = 50_000;
const MAX_RSS_BYTES = 250 * 1_024 * 1_024;
const PAYMENTS = 20_000;

/**
 * The goals are 4, 8, 10 and 10 times the p95 of `GET /payments/:id`. On a machine that does something else a
 * percentile moves by more than that, so the limits are twice the goals, and one measurement of three must be good.
 */
const MAX_RATIO: Readonly<Record<PageKind, number>> = { form: 8, home: 16, list: 20, detail: 20 };
const MEASUREMENTS = 3;
const SAMPLES = 20;

/** The goal is .9 on cores of its own. Here both processes, their clients, PostgreSQL and Temporal share two. */
const MIN_CREATE_RATE_RATIO = 0.3;
const CREATES = 60;
const CREATES_AT_A_TIME = 4;
const TIMEOUT_MS = 300_000;

let service: TestService;
let api: ApiProcess;
let dashboard: DashboardProcess;
let metricsUrl: string;
let merchant: FilledMerchant;
let tokens: string[];

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  const [policyId, accountId] = await insertCatalog(service.db);
  await service.db.query("update provider_accounts set status = 'disabled' where base_url <> $1", [service.sandboxUrl]);
  await fillMerchant(service.db, { merchantId: service.merchantId, policyId, accountId }, 1, PAYMENTS);
  merchant = await readFilledMerchant(service.db, service.merchantId);
  tokens = await signInMany(service.db, service.merchantId, USERS);
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}`;
  const limits = { PUBLIC_RATE_LIMIT_PER_SECOND: '1000000', DATABASE_POOL_SIZE: String(POOL_SIZE) };
  [api, dashboard] = await Promise.all([
    startApiProcess(service, limits),
    startDashboardProcess(service, { ...limits, METRICS_PORT: String(metricsPort), TRUST_PROXY: '1' }),
  ]);
}, TIMEOUT_MS);
afterAll(async () => {
  await Promise.all([api.stop(), dashboard.stop()]);
  await service.close();
}, TIMEOUT_MS);

/** @param user the index of a signed-in user; null: a browser without a session */
function get(path: string, user: number | null = 0, headers: Record<string, string> = {}): Promise<Response> {
  const cookie = user === null ? '' : `${dashboard.cookieName}=${tokens[user]}`;
  return fetch(dashboard.url + path, { headers: { cookie, ...headers }, redirect: 'manual' });
}

/**
 * The page with its style sheets and scripts, as a browser without a cache reads them: no fonts and no images, also
 * none that stand in the page.
 */
async function bytesOf(page: Response): Promise<number> {
  const html = await page.text();
  const linked = [...html.matchAll(/<(?:link|script)[^>]*(?:href|src)="(\/[^"]+)"/g)].map(([, file = '']) => file);
  const files = linked.filter((file) => /\.(?:css|js)$/.test(file));
  expect(files.map((file) => file.split('.').at(-1))).toEqual(expect.arrayContaining(['css', 'js']));
  const sizes = [...new Set(files)].map(async (file) => {
    const response = await fetch(dashboard.url + file);
    expect([file, response.status]).toEqual([file, 200]);
    return (await response.arrayBuffer()).byteLength;
  });
  const text = html.replaceAll(/<svg.*?<\/svg>/gs, '');
  return Buffer.byteLength(text) + (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const LIMIT_KB = MAX_PAGE_BYTES / 1_000;
it(`the first page and home have fewer than ${LIMIT_KB} kB with their style sheets and scripts`, async () => {
  const first = await bytesOf(await fetch(dashboard.url));
  const home = await bytesOf(await get(`/m/${merchant.code}`));
  console.info(`uncompressed, without fonts and images: first page ${first} bytes, home ${home} bytes`);
  expect(first).toBeLessThan(MAX_PAGE_BYTES);
  expect(home).toBeLessThan(MAX_PAGE_BYTES);
});

/** The first address of each page. */
const pagesOf = () =>
  measuredPages()
    .filter(([, { isLimited = false }]) => !isLimited)
    .map(([, { kind, paths, isSignedOut = false }]) => ({ kind, path: paths(merchant)[0] ?? '', isSignedOut }));

/** A page of the user; every page has its turn. */
async function openPageOf(user: number): Promise<void> {
  const all = pagesOf();
  const { path, isSignedOut } = all[user % all.length] ?? { path: '', isSignedOut: false };
  const response = await get(path, isSignedOut ? null : user);
  const html = await response.text();
  expect([path, response.status, html.length > 0]).toEqual([path, response.status === 303 ? 303 : 200, response.ok]);
}

/** The connections of the dashboard to PostgreSQL. */
async function countConnections(): Promise<number> {
  const { rows } = await service.db.query<{ count: number }>(
    `select count(*)::integer as count from pg_stat_activity
     where datname = current_database() and usename = 'lunas_local_dashboard'`,
  );
  return rows[0]?.count ?? NaN;
}

/** Streams of payments that are open on the screens of these users, from the first to the last byte. */
async function watchPayments(references: readonly string[]): Promise<{ readonly ended: Promise<string[]> }> {
  const open = (user: number) => {
    const path = `/m/${merchant.code}/payments/${references[user % references.length]}/events?seen=2`;
    // Each office has an address.
    return get(path, user, { accept: 'text/event-stream', 'x-forwarded-for': `203.0.113.${user % 10}` });
  };
  const opened = await Promise.all(Array.from({ length: VIEWERS }, (_, user) => open(user)));
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
  return { ended: Promise.all(opened.map(readUntilEvent)) };
}

async function readUntilEvent({ body }: Response): Promise<string> {
  let text = '';
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('event: status')) return text;
  }
  return text;
}

it(`${USERS} users and ${VIEWERS} viewers: no error, ${POOL_SIZE + 1} connections, bounded memory`, async () => {
  const pages = await Promise.all(Array.from({ length: VIEWERS / VIEWERS_OF_PAYMENT }, () => createPage(service)));
  const references = pages.map(({ referenceId }) => referenceId);
  const { ended } = await watchPayments(references);
  let next = 0;
  const connections: number[] = [];
  const visit = async () => {
    while (next < USERS) {
      await openPageOf(next++);
      if (next % 50 === 0) connections.push(await countConnections());
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: PAGES_AT_A_TIME }, visit));
  const seconds = (performance.now() - startedMs) / 1_000;
  await Promise.all(references.map((referenceId) => service.pay(referenceId)));
  expect((await ended).filter((text) => text.includes('event: status'))).toHaveLength(VIEWERS);
  const readSeries = async () => parseSeries(await fetchMetrics(metricsUrl));
  const rssOf = (read: Awaited<ReturnType<typeof readSeries>>) => read.get('process_resident_memory_bytes') ?? Infinity;
  // The pages come at three times the rate of these users: what is only garbage may still be there.
  const series = await eventually(readSeries, (read) => rssOf(read) < MAX_RSS_BYTES);
  const rss = rssOf(series);
  const most = Math.max(...connections);
  console.info(
    `${USERS} pages in ${seconds.toFixed(1)} s, ${most} connections, ${(rss / 1_048_576).toFixed(0)} MB resident`,
  );
  expect(connections.length).toBeGreaterThan(10);
  expect(most).toBeLessThanOrEqual(POOL_SIZE + 1);
  expect([...series.keys()].filter((name) => name.includes('_count{') && name.includes('status="5xx"'))).toEqual([]);
});

async function durationOf(request: () => Promise<Response>): Promise<number> {
  const startedMs = performance.now();
  const response = await request();
  await response.arrayBuffer();
  expect(response.status).toBeLessThan(400);
  return performance.now() - startedMs;
}

/** The p95 of a page ÷ the p95 of `GET /payments/:id`, requested in turns. */
async function ratioOf({ path, isSignedOut }: { path: string; isSignedOut: boolean }): Promise<number> {
  const headers = { authorization: `Bearer ${service.secretKey}` };
  const [pages, reads]: [number[], number[]] = [[], []];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    reads.push(await durationOf(() => fetch(`${api.url}/payments/${merchant.references.paid}`, { headers })));
    // A session has a limit of requests a minute, so each sample is of another user.
    pages.push(await durationOf(() => get(path, isSignedOut ? null : sample)));
  }
  return percentile(pages, 0.95) / percentile(reads, 0.95);
}

it('the p95 of each page is within its multiple of the p95 of GET /payments/:id', async () => {
  const tooSlow: string[] = [];
  const measured: string[] = [];
  for (const page of pagesOf()) {
    const { kind, path } = page;
    const ratios: number[] = [];
    while (ratios.length < MEASUREMENTS && !(Math.min(...ratios) < MAX_RATIO[kind])) {
      ratios.push(await ratioOf(page));
    }
    const best = Math.min(...ratios);
    measured.push(`${best.toFixed(1)}\t(${kind})\t${path.replace(merchant.code, ':code')}`);
    if (best >= MAX_RATIO[kind]) tooSlow.push(`${path}: ${best}`);
  }
  console.info(`p95 ÷ p95 of GET /payments/:id\n${measured.join('\n')}`);
  expect(tooSlow).toEqual([]);
});

/** Creates per second, with some at a time. */
async function rateOfCreates(): Promise<number> {
  let next = 0;
  const headers = { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' };
  const createAll = async () => {
    while (next++ < CREATES) {
      const response = await fetch(`${api.url}/payments`, { method: 'POST', headers, body: '{"amount":50000}' });
      expect(response.status).toBe(201);
      await response.arrayBuffer();
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: CREATES_AT_A_TIME }, createAll));
  return CREATES / ((performance.now() - startedMs) / 1_000);
}

/** Opens pages at the rate of all users until the work is done. A machine that cannot keep up opens fewer. */
async function whileUsersOpenPages<Result>(work: () => Promise<Result>): Promise<Result> {
  const over = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let opened = 0;
  const load = async () => {
    for (let user = 0; !over.signal.aborted; user += 1) {
      if (inFlight.size < PAGES_AT_A_TIME) {
        const page = openPageOf(user % USERS);
        inFlight.add(page);
        void page.finally(() => inFlight.delete(page)).catch(() => undefined);
        opened += 1;
      }
      await sleep(1_000 / PAGES_PER_SECOND);
    }
    await Promise.all(inFlight);
  };
  const loading = load();
  const result = await work();
  over.abort();
  await loading;
  expect(opened).toBeGreaterThan(10);
  return result;
}

it('no create fails beside a thousand users, and creates go on', async () => {
  await rateOfCreates();
  const ratios: number[] = [];
  while (ratios.length < MEASUREMENTS && !(Math.max(...ratios) >= MIN_CREATE_RATE_RATIO)) {
    const alone = await rateOfCreates();
    const beside = await whileUsersOpenPages(rateOfCreates);
    ratios.push(beside / alone);
    console.info(`creates per second: ${alone.toFixed(1)} alone, ${beside.toFixed(1)} beside ${USERS} users`);
  }
  expect(Math.max(...ratios)).toBeGreaterThanOrEqual(MIN_CREATE_RATE_RATIO);
});
