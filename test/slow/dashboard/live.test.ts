import type { Browser, Page } from 'playwright-core';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { DASHBOARD_FILES } from '../../../src/web/dashboard/files';
import { PAYMENT_TEXTS } from '../../../src/web/dashboard/payments/payment-texts';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { findAccessibilityViolations, openPage, startBrowser } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { destroyAll, openStream, openStreams, statusesOf } from '../../support/event-streams';
import { createPage } from '../../support/payment-page';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';

/** Open pages while something changes, or stops. */

const { qr, statuses } = DASHBOARD_TEXTS.en;
/** A browser repeats a lost stream after some seconds. */
const TIMEOUT_MS = 60_000;

let service: TestService;
let postgres: TcpProxy;
let dashboard: TestDashboard;
let browser: Browser;
let home: string;

beforeAll(async () => {
  [service, browser] = await Promise.all([
    newNamespace().then((namespace) => startTestService(namespace)),
    startBrowser(),
  ]);
  const databaseUrl = new URL(service.dashboardDatabaseUrl);
  postgres = await startTcpProxy(databaseUrl.host);
  databaseUrl.host = postgres.address;
  dashboard = await startTestDashboard({ ...service, dashboardDatabaseUrl: databaseUrl.href });
  await service.db.query("update users set language = 'en' where email = $1", [DEMO_OWNER_EMAIL]);
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [
    service.merchantId,
  ]);
  home = `${dashboard.url}/m/${rows[0]?.code}`;
});
afterAll(async () => {
  await dashboard.close();
  await postgres.close();
  await browser.close();
  await service.close();
});

async function openSignedIn(path: string, script = '') {
  const opened = await openPage(browser, 'about:blank', {}, script);
  await dashboard.signIn(opened.page.context(), DEMO_OWNER_EMAIL);
  await opened.page.goto(home + path, { waitUntil: 'load' });
  return opened;
}

it.each([
  ['the dashboard has restarted', () => dashboard.restart()],
  [
    'PostgreSQL was away',
    async () => {
      await postgres.cut();
      await postgres.restore();
    },
  ],
])('an open QR page shows the payment after %s', async (_name, interrupt) => {
  const { referenceId } = await createPage(service);
  const { page, close } = await openSignedIn(`/payments/${referenceId}/qr`);
  await page.locator('.qr svg').waitFor();
  await interrupt();
  await service.pay(referenceId);
  await page.locator('.state', { hasText: qr.states.paid }).waitFor({ timeout: TIMEOUT_MS });
  expect(await page.locator('.qr svg').count()).toBe(0);
  await close();
});

it.each([
  [
    'the browser was offline',
    async (page: Page) => {
      await page.context().setOffline(true);
      return () => page.context().setOffline(false);
    },
  ],
  [
    'one reading failed',
    async (page: Page) => {
      await page.route('**/qr', (route) => route.abort(), { times: 1 });
      return async () => {};
    },
  ],
])('an open QR page is marked as outdated, and shows the payment then, after %s', async (_name, interrupt) => {
  const { referenceId } = await createPage(service);
  const { page, close } = await openSignedIn(`/payments/${referenceId}/qr`);
  const outdated = page.locator('.connection p');
  expect(await outdated.isVisible()).toBe(false);
  const restore = await interrupt(page);
  await service.pay(referenceId);
  await outdated.waitFor({ timeout: TIMEOUT_MS });
  await restore();
  await page.locator('.state', { hasText: qr.states.paid }).waitFor({ timeout: TIMEOUT_MS });
  await outdated.waitFor({ state: 'hidden' });
  await close();
});

it('an open QR page shows the payment although the user has as many streams as a user may have', async () => {
  const { referenceId } = await createPage(service);
  const cookie = await dashboard.cookie(DEMO_OWNER_EMAIL);
  const streams = await openStreams(4, () => openStream(`${home}/payments/${referenceId}/events`, { cookie }));
  const { page, close } = await openSignedIn(`/payments/${referenceId}/qr`, TIMERS_ARE_FAST);
  await page.locator('.qr svg').waitFor();
  await service.pay(referenceId);
  await page.locator('.state', { hasText: qr.states.paid }).waitFor({ timeout: TIMEOUT_MS });
  expect(statusesOf(streams)).toEqual([200]);
  destroyAll(streams);
  await close();
});

it('"back" from the QR page opens the form again, whose first try was rejected', async () => {
  const { page, close } = await openSignedIn('/payments/new');
  const amount = page.locator('#amount');
  await amount.fill('0');
  await amount.press('Enter');
  await page.getByRole('alert').waitFor();
  await amount.fill('15.000');
  await amount.press('Enter');
  await page.waitForURL(/\/qr$/);
  await page.goBack({ waitUntil: 'load' });
  await amount.waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await close();
});

it('a list that is read again shows the new status, and keeps the focus and what is typed', async () => {
  const { referenceId } = await createPage(service);
  const { page, problems, close } = await openSignedIn('/payments', TIMERS_ARE_FAST);
  const row = page.locator('tr', { hasText: referenceId });
  await row.getByText(statuses.pending).waitFor();
  const field = page.locator('form input[type=text], form input[type=search]').first();
  await field.fill('ORDER-');
  await service.pay(referenceId);
  await row.getByText(statuses.paid).waitFor({ timeout: TIMEOUT_MS });
  await page.keyboard.type('17');
  expect(await field.inputValue()).toBe('ORDER-17');
  expect(problems).toEqual([]);
  await close();
});

it('a list shows how many payments are new, and no row moves before they are requested', async () => {
  await createPage(service);
  const { page, problems, close } = await openSignedIn('/payments', TIMERS_ARE_FAST);
  const references = page.locator('tbody code');
  const before = await references.allInnerTexts();
  const position = await references.first().boundingBox();
  for (const _ of [1, 2, 3]) await createPage(service);
  const { newPayments, show } = PAYMENT_TEXTS.en;
  const link = page.getByRole('link', { name: `${newPayments('3')} ${show}` });
  await link.waitFor({ timeout: TIMEOUT_MS });
  expect(await references.allInnerTexts()).toEqual(before);
  expect(await references.first().boundingBox()).toEqual(position);
  expect(await page.locator('#announcement').textContent()).toBe(await link.textContent());
  expect(await findAccessibilityViolations(page)).toEqual([]);
  await link.click();
  await page.waitForURL(/\/payments$/);
  expect((await references.allInnerTexts()).slice(3)).toEqual(before);
  expect(problems).toEqual([]);
  await close();
});

const COUNT_SOUNDS = `
  window.sounds = 0;
  const { start } = OscillatorNode.prototype;
  OscillatorNode.prototype.start = function (...given) {
    window.sounds += 1;
    return start.apply(this, given);
  };
`;

it('a QR page that was touched plays one sound when it is paid, another one none, and both announce it', async () => {
  const { referenceId } = await createPage(service);
  const open = () => openSignedIn(`/payments/${referenceId}/qr`, COUNT_SOUNDS);
  const [touched, untouched] = await Promise.all([open(), open()]);
  await touched.page.locator('h1').click();
  await service.pay(referenceId);
  for (const [{ page, problems, close }, sounds] of [
    [touched, 1],
    [untouched, 0],
  ] as const) {
    await page.locator('.state', { hasText: qr.states.paid }).waitFor({ timeout: TIMEOUT_MS });
    expect(await page.locator('#announcement').textContent()).toBe(qr.states.paid);
    expect(await page.evaluate('window.sounds')).toBe(sounds);
    expect(problems).toEqual([]);
    await close();
  }
});

it('the script of all pages has at most 6 kB', async () => {
  const { length } = await (await fetch(dashboard.url + DASHBOARD_FILES.script)).text();
  expect(length).toBeGreaterThan(3_000);
  expect(length).toBeLessThanOrEqual(6_000);
});

/** A page is read again after 15 seconds: here after one. */
const TIMERS_ARE_FAST = `
  const setSlowly = window.setTimeout.bind(window);
  window.setTimeout = (work, delayMs, ...args) => setSlowly(work, Math.min(delayMs ?? 0, 1000), ...args);
`;
