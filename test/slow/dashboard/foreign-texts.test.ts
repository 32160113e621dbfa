import type { Browser } from 'playwright-core';
import { asSuperuser } from '../../support/backdate';
import { openPage, startBrowser } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { measuredPages, type FilledMerchant } from '../../support/dashboard-pages';
import { fillMerchant, readFilledMerchant } from '../../support/fill-merchant';
import { signInMany } from '../../support/people';
import { insertCatalog } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { sealFilledInvoices } from '../../support/shown-invoices';

/** Pages of a merchant whose texts are those of an attacker, and the links between them. */

const OWNERS = 30;
const PAYMENTS = 300;
const DEPTH = 6;
/** Addresses that differ in ids only lead to the same page. */
const MAX_OF_PATTERN = 2;
const WIDTH = 320;
const TIMEOUT_MS = 600_000;

/** What an attacker, a careless import or another language may put into a text. */
const CORPUS = [
  '"><script>window.attacked = 1</script>',
  "'><img src=x onerror=window.attacked=1>",
  '</title></textarea></script><script>window.attacked = 1</script>',
  'javascript:window.attacked=1',
  '&lt;b&gt;&amp;#39;{{7*7}}${7*7}',
  '\u202Egnp.exe\u2066\u200F',
  '🧾'.repeat(30),
  'W'.repeat(120),
] as const;

/** One of the texts for each row. */
const textOf = (key: string, length: number) => `left(($1::text[])[1 + (hashtext(${key}) & 7)], ${length})`;

/** The texts that pages show. `$1` is the corpus. */
const TEXTS = [
  'update merchants set name = ($1::text[])[1]',
  `update users set name = ${textOf('id::text', 100)}`,
  `update payments set merchant_reference_id = ${textOf('id::text', 100)}`,
  `update api_keys set name = ${textOf('id::text', 60)}`,
  `update passkeys set name = ${textOf('id::text', 60)}`,
  `update webhook_endpoints
     set url = 'https://shop.example/' || repeat('w', 300) || '?q=' || ${textOf('id::text', 100)}`,
  `update webhook_attempts set status_code = 500, failure = ${textOf('delivery_id::text', 200)},
     response_excerpt = ${textOf('delivery_id::text || 1', 200)}`,
  `update api_requests set path = '/payments/' || ${textOf('request_id', 200)}, error_code = 'payment_create_failed',
     status = 400, error_reason = ${textOf('request_id || 1', 200)}`,
  `update payouts set bank_reference = ${textOf('id::text', 100)}, failure_reason = ${textOf('id::text || 1', 200)}`,
  `update payment_transitions set note = ${textOf('payment_id::text || version', 200)}`,
] as const;

let service: TestService;
let dashboard: TestDashboard;
let browser: Browser;
let merchant: FilledMerchant;
/** The cookies of many owners: a session has a limit of requests a minute. */
let cookies: string[];
let requests = 0;

beforeAll(async () => {
  [service, browser] = await Promise.all([
    newNamespace().then((namespace) => startTestService(namespace)),
    startBrowser(),
  ]);
  const { db, merchantId } = service;
  const [policyId, accountId] = await insertCatalog(db);
  await fillMerchant(db, { merchantId, policyId, accountId }, 1, PAYMENTS);
  merchant = await readFilledMerchant(db, merchantId);
  await sealFilledInvoices(service, merchantId);
  dashboard = await startTestDashboard(service);
  cookies = (await signInMany(db, merchantId, OWNERS)).map((token) => `${dashboard.cookieName}=${token}`);
  await asSuperuser(db, ...TEXTS.map((text) => text.replaceAll('$1', literalOf(CORPUS))));
}, TIMEOUT_MS);
afterAll(async () => {
  await dashboard.close();
  await browser.close();
  await service.close();
});

const literalOf = (texts: readonly string[]) =>
  `array[${texts.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ')}]`;

const nextCookie = () => cookies[requests++ % cookies.length] ?? '';

/** A path without what differs between rows: the ids, and the values of its parameters. */
const patternOf = (path: string) =>
  path
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}|LN[\dA-Z]{16,18}|FI-\d{4}-\d{6}|\d{4}-\d{2}(-\d{2})?|request-\d+/g, ':id')
    .replaceAll(/=[^&#]*/g, '=');

async function open(path: string): Promise<{ readonly status: number; readonly html: string }> {
  const response = await fetch(dashboard.url + path, { headers: { cookie: nextCookie() }, redirect: 'manual' });
  return { status: response.status, html: await response.text() };
}

/** Links of this dashboard, as a browser follows them. */
function linksOf(html: string, from: string): string[] {
  return [...html.matchAll(/<a [^>]*href="([^"]*)"/g)]
    .map(([, href = '']) => new URL(href.replaceAll('&amp;', '&'), dashboard.url + from))
    .filter(({ origin }) => origin === dashboard.url)
    .map(({ pathname, search, hash }) => pathname + search + hash);
}

it(
  `no link of a page leads to an error or a missing anchor, ${DEPTH} clicks from home`,
  async () => {
    const visits = new Map<string, number>();
    /** The anchors of each visited page. */
    const anchors = new Map<string, ReadonlySet<string>>();
    const problems: string[] = [];
    let level = [`/m/${merchant.code}`];
    for (let depth = 0; depth <= DEPTH; depth += 1) {
      const next = new Set<string>();
      for (const link of level) {
        const [path = '', anchor = ''] = link.split('#');
        const pattern = patternOf(path);
        const count = visits.get(pattern) ?? 0;
        if (!anchors.has(path) && count < MAX_OF_PATTERN) {
          visits.set(pattern, count + 1);
          const { status, html } = await open(path);
          if (status !== 200 && status !== 303) problems.push(`${status} ${path}`);
          anchors.set(path, new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)));
          for (const found of linksOf(html, path)) next.add(found);
        }
        if (anchor !== '' && anchors.get(path)?.has(anchor) === false) problems.push(`no #${anchor} in ${path}`);
      }
      level = [...next];
    }
    expect(problems).toEqual([]);
    expect(visits.size).toBeGreaterThan(40);
  },
  TIMEOUT_MS,
);

it(
  'no page runs a script of a text, and the layout holds at 320 pixels',
  async () => {
    const { page, problems, close } = await openPage(browser, 'about:blank', {
      viewport: { width: WIDTH, height: 800 },
    });
    const failed: unknown[] = [];
    let shown = 0;
    for (const [, { paths, isSignedOut = false }] of measuredPages()) {
      for (const path of paths(merchant).slice(0, 1)) {
        const [name = '', value = ''] = nextCookie().split('=');
        await page.context().clearCookies();
        if (!isSignedOut) await page.context().addCookies([{ name, value, url: dashboard.url }]);
        await page.goto(dashboard.url + path, { waitUntil: 'load' });
        const attacked = await page.evaluate('window.attacked');
        const width = await page.evaluate('document.documentElement.scrollWidth');
        if (attacked !== undefined || width !== WIDTH) failed.push({ path, attacked, width });
        if ((await page.locator('body').textContent())?.includes(CORPUS[0])) shown += 1;
      }
    }
    expect(failed).toEqual([]);
    expect(problems.filter((problem) => !/\b(404|422)\b/.test(problem))).toEqual([]);
    // The name of the merchant is on each of its pages.
    expect(shown).toBeGreaterThan(20);
    await close();
  },
  TIMEOUT_MS,
);
