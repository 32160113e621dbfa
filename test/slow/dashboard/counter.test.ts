import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Browser, Page, Response } from 'playwright-core';
import { changeMemberRow } from '../../../src/db/identity/members';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { COUNTER_TEXTS } from '../../../src/web/dashboard/counter/counter-texts';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { asSuperuser } from '../../support/backdate';
import { findAccessibilityViolations, openPage, startBrowser, type WatchedPage } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { HttpBrowser } from '../../support/http-browser';
import { createPage } from '../../support/payment-page';
import { createMember, createShop } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const TEXTS = COUNTER_TEXTS.en;
/** A phone: fingers, and no keyboard. */
const PHONE = { viewport: { width: 360, height: 760 }, hasTouch: true, isMobile: true };

let service: TestService;
let dashboard: TestDashboard;
let browser: Browser;
let counter: string;
let home: string;
let foreign: string;
const users = new Map<string, string>();

beforeAll(async () => {
  [service, browser] = await Promise.all([
    newNamespace().then((namespace) => startTestService(namespace)),
    startBrowser(),
  ]);
  dashboard = await startTestDashboard(service);
  // A payment stays paid, so that what a page and a file show does not depend on the time that they take.
  for (const provider of ['gopay', 'shopeepay'] as const) {
    await setPolicy(service.db, { provider, channel: 'qris', settlementDelaySeconds: 86_400 });
  }
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [
    service.merchantId,
  ]);
  home = `${dashboard.url}/m/${rows[0]?.code}`;
  counter = `${home}/counter`;
  for (const role of ['owner', 'cashier', 'support', 'viewer'] as const) {
    users.set(role, await createMember(service.db, `${role}@counter.test`, [[service.merchantId, role]]));
  }
  const { id } = await createShop(service.db, 'Toko Lain');
  const other = await service.db.query<{ code: string }>('select code from merchants where id = $1', [id]);
  foreign = `${dashboard.url}/m/${other.rows[0]?.code}`;
});
afterAll(async () => {
  await dashboard.close();
  await browser.close();
  await service.close();
});

/** A cashier of its own for each test, so that it begins without payments. */
let cashiers = 0;
async function newCashier(language: 'id' | 'en' = 'en'): Promise<{ email: string; userId: string }> {
  const email = `cashier-${(cashiers += 1)}@counter.test`;
  const userId = await createMember(service.db, email, [[service.merchantId, 'cashier']]);
  await service.db.query('update users set language = $2 where id = $1', [userId, language]);
  return { email, userId };
}

async function open(url: string, email: string, options: object = PHONE, script = ''): Promise<WatchedPage> {
  const opened = await openPage(browser, 'about:blank', options, script);
  await dashboard.signIn(opened.page.context(), email);
  await opened.page.goto(url, { waitUntil: 'load' });
  return opened;
}

async function screenshot(page: Page, name: string): Promise<void> {
  const directory = process.env.SCREENSHOTS;
  if (directory !== undefined) await page.screenshot({ path: path.join(directory, `${name}.png`), fullPage: true });
}

/** A customer pays, and Lunas knows it. */
async function pay(referenceId: string): Promise<void> {
  await service.pay(referenceId);
  await eventually(
    () => service.db.query("select from payments where reference_id = $1 and status = 'paid'", [referenceId]),
    ({ rows }) => rows.length > 0,
  );
}

/** The payments that a user has created, the newest first. */
async function paymentsOf(userId: string): Promise<{ reference: string; total: number }[]> {
  const { rows } = await service.db.query<{ reference: string; total: number }>(
    `select reference_id as reference, total_rupiah as total from payments
     where id in (select target::uuid from user_actions where user_id = $1 and action = 'payment.create')
     order by created_at desc`,
    [userId],
  );
  return rows;
}

/** The policy of the pages lets a browser evaluate no text again and again, as `waitForFunction` does. */
const untilTrue = (page: Page, expression: string) =>
  eventually(
    () => page.evaluate(expression),
    (is) => is === true,
  );

const key = (page: Page, name: string) => page.locator(`[data-key="${name}"]`);
const showQr = (page: Page) => page.getByRole('button', { name: TEXTS.show, exact: true });
const onQr = (page: Page) => page.waitForURL(/\/qr\?from=counter$/);

/** The keys of an amount, and the page of its QR. */
async function take(page: Page, ...keys: readonly string[]): Promise<string> {
  for (const each of keys) await key(page, each).tap();
  await showQr(page).tap();
  await onQr(page);
  return /payments\/(\w+)\/qr/.exec(page.url())?.[1] ?? '';
}

async function expectKeysForThumbs(page: Page): Promise<void> {
  for (const box of await Promise.all((await page.locator('[data-key]').all()).map((each) => each.boundingBox()))) {
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
  }
}

it('three taps on a phone of 360 pixels show a code; a first load is small', async () => {
  const { email, userId } = await newCashier();
  const { page, problems, close } = await open('about:blank', email);
  const sizes: Promise<number>[] = [];
  const measure = (response: Response) => {
    if (/\/counter$|\.(?:css|js)$/.test(response.url())) sizes.push(response.body().then((body) => body.length));
  };
  page.on('response', measure);
  await page.goto(counter, { waitUntil: 'load' });
  page.off('response', measure);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  console.info(`counter: ${bytes} bytes of page, styles and scripts`);
  expect(bytes).toBeLessThanOrEqual(60_000);
  await expectKeysForThumbs(page);
  await screenshot(page, 'counter-new');
  let taps = 0;
  await page.exposeFunction('countTap', () => (taps += 1));
  await page.evaluate("addEventListener('pointerdown', () => countTap(), true)");
  for (const name of ['5', '000']) await key(page, name).tap();
  const startedMs = Date.now();
  await take(page);
  const tookMs = Date.now() - startedMs;
  console.info(`counter: ${taps} taps, ${tookMs} ms to the code`);
  expect(taps).toBe(3);
  expect(await page.locator('.qr svg').isVisible()).toBe(true);
  expect(await page.locator('.qr-card .amount').textContent()).toBe('Rp\u00a05.000');
  expect(await page.locator('.menu').count()).toBe(0);
  await screenshot(page, 'counter-qr');
  expect((await paymentsOf(userId)).map(({ total }) => total)).toEqual([5_000]);
  await page.locator('.back-link').tap();
  await page.waitForURL(counter);
  await page.locator('.usual button', { hasText: '5.000' }).tap();
  await onQr(page);
  expect(await paymentsOf(userId)).toHaveLength(2);
  expect(problems).toEqual([]);
  await close();
});

it('the button is on the screen of a small phone, below the usual amounts', async () => {
  const { email, userId } = await newCashier();
  await service.db.query(
    `insert into user_actions (user_id, merchant_id, requested_at, address, action, target, actor, via, detail)
     select $1::uuid, $2, now(), '203.0.113.7', 'payment.create', gen_random_uuid()::text, 'user:' || $1, 'dashboard',
       '{"amount":' || n * 12500 || '}' from generate_series(1, 6) n`,
    [userId, service.merchantId],
  );
  const viewport = { width: 360, height: 640 };
  const { page, close } = await open(counter, email, { ...PHONE, viewport });
  expect(await page.locator('.usual button').count()).toBe(6);
  const button = await showQr(page).boundingBox();
  expect((button?.y ?? Infinity) + (button?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
  await expectKeysForThumbs(page);
  await screenshot(page, 'counter-small');
  await close();
});

it('the keys write an amount, and delete its last digit', async () => {
  const { email } = await newCashier();
  const { page, close } = await open(counter, email);
  const amount = page.locator('#amount');
  for (const name of ['0', '1', '2', '00', '0']) await key(page, name).tap();
  expect(await amount.inputValue()).toBe('12.000');
  await key(page, 'delete').tap();
  expect(await amount.inputValue()).toBe('1.200');
  // The phone's own keys would cover ours.
  expect(await amount.getAttribute('inputmode')).toBe('none');
  await close();
});

it('a double tap is one payment, also without the script', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const { email, userId } = await newCashier();
    const { page, close } = await open(counter, email, { javaScriptEnabled });
    await page.locator('#amount').fill('25.000');
    await showQr(page).dblclick();
    await onQr(page);
    expect(await paymentsOf(userId)).toHaveLength(1);
    await page.goto(counter);
    await page.locator('.usual button').first().dblclick();
    await onQr(page);
    expect(await paymentsOf(userId)).toHaveLength(2);
    await close();
  }
});

it('an amount that is not possible is named as on the page of a new payment', async () => {
  const { email, userId } = await newCashier();
  const { page, close } = await open(counter, email, {});
  await page.locator('#amount').fill('10.000.001');
  const [response] = await Promise.all([page.waitForResponse(counter), page.locator('#amount').press('Enter')]);
  expect(response.status()).toBe(422);
  expect(await page.locator('#amount-error').textContent()).toBe(DASHBOARD_TEXTS.en.create.errors.amount);
  expect(await page.locator('#amount').inputValue()).toBe('10.000.001');
  expect(await paymentsOf(userId)).toEqual([]);
  await close();
});

/** A browser with a voice of each language, which keeps what it speaks. */
const VOICES = `
  window.spoken = [];
  window.SpeechSynthesisUtterance = class extends EventTarget { constructor(text) { super(); this.text = text; } };
  Object.defineProperty(window, 'speechSynthesis', { value: {
    getVoices: () => [{ lang: 'en-GB' }, { lang: 'in_ID' }],
    cancel() {},
    speak: ({ text, lang }) => spoken.push([lang, text]),
  } });`;

/** What only the page of a paid code has. */
const OF_PAID_CODE = '[data-speak], [data-live-mark], [data-sound], .state.paid, a[href$="/slip"]';

it.each([
  ['en', 'en-GB', 'Paid. Fifty thousand rupiah.'],
  ['id', 'in_ID', 'Lunas. Lima puluh ribu rupiah.'],
] as const)('a payment is spoken once, and its mark moves: %s', async (language, voice, text) => {
  const { email } = await newCashier(language);
  const { page, problems, close } = await open(counter, email, PHONE, VOICES);
  for (const name of ['5', '0', '000']) await key(page, name).tap();
  await page.locator('.amount-form .primary').tap();
  await onQr(page);
  const reference = /payments\/(\w+)\/qr/.exec(page.url())?.[1] ?? '';
  expect(await page.locator(OF_PAID_CODE).count()).toBe(0);
  const startedMs = Date.now();
  await service.pay(reference);
  await untilTrue(page, 'spoken.length > 0');
  console.info(`counter: ${Date.now() - startedMs} ms from the payment to the voice`);
  const mark = page.locator('[data-live-mark]');
  await page.waitForTimeout(1_000);
  await screenshot(page, `counter-paid-${language}`);
  for (const reducedMotion of ['no-preference', 'reduce'] as const) {
    await page.emulateMedia({ reducedMotion });
    const first = await mark.screenshot();
    await page.waitForTimeout(1_200);
    expect((await mark.screenshot()).equals(first)).toBe(false);
  }
  const shown = (await mark.locator('time').textContent())?.match(/\d+/g)?.map(Number) ?? [];
  const wib = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(11, 19).split(':').map(Number);
  const secondsOf = (parts: readonly number[]) => parts.reduce((sum, part) => sum * 60 + part, 0);
  expect(Math.abs(secondsOf(shown) - secondsOf(wib)) % 86_390).toBeLessThanOrEqual(3);
  expect(await page.evaluate('spoken')).toEqual([[voice, text]]);
  expect(await page.locator('[data-speak]').textContent()).toBe(text);
  await page.getByText(COUNTER_TEXTS[language].slip).tap();
  await page.locator('[data-slip]').waitFor();
  await page.locator('.back-link').tap();
  await page.waitForURL(counter);
  expect(problems).toEqual([]);
  await close();
});

it('a code that ends without money is not spoken, and there is no slip of it', async () => {
  const { email } = await newCashier();
  const { page, close } = await open(counter, email, PHONE, VOICES);
  const reference = await take(page, '4', '000');
  expect((await service.call('POST', `/payments/${reference}/cancel`)).status).toBe(200);
  await page.getByRole('link', { name: TEXTS.next }).waitFor();
  expect(await page.locator(OF_PAID_CODE).count()).toBe(0);
  expect(await page.evaluate('spoken')).toEqual([]);
  await close();
});

it('the switch turns the voice off, and it stays off; then there is the tone', async () => {
  const { email } = await newCashier();
  const tones = `${VOICES}
    window.tones = 0;
    window.AudioContext = class { createOscillator() { tones += 1; throw new Error('a tone'); } };`;
  const { page, close } = await open(counter, email, PHONE, tones);
  await page.locator('[data-voice]').tap();
  expect(await page.locator('[data-voice]').getAttribute('aria-pressed')).toBe('false');
  const reference = await take(page, '7', '000');
  await page.locator('.shop').tap();
  await service.pay(reference);
  await untilTrue(page, 'tones > 0');
  expect(await page.evaluate('spoken')).toEqual([]);
  expect(await page.locator('[data-voice]').getAttribute('aria-pressed')).toBe('false');
  await close();
});

/** The browser has the worker, and the worker has the page. */
const untilInstalled = (page: Page) =>
  untilTrue(page, 'navigator.serviceWorker.controller !== null && caches.match("/offline").then(Boolean)');

it('a page names the lost connection, and the same tap again is one payment', async () => {
  const { email, userId } = await newCashier();
  const { page, close } = await open(counter, email);
  await untilInstalled(page);
  for (const name of ['9', '000']) await key(page, name).tap();
  // The form arrives, and its response is lost.
  await page.evaluate(`(() => {
    const { form } = document.querySelector('#amount');
    const body = new URLSearchParams(new FormData(form));
    return fetch(form.action, { method: 'POST', body, redirect: 'manual' });
  })()`);
  expect(await paymentsOf(userId)).toHaveLength(1);
  await page.context().setOffline(true);
  await showQr(page).tap();
  await page.getByRole('heading', { name: TEXTS.offline.title }).waitFor();
  expect(await page.locator('main').innerText()).toContain(TEXTS.offline.text);
  expect(await findAccessibilityViolations(page)).toEqual([]);
  await screenshot(page, 'counter-offline');
  await page.context().setOffline(false);
  await page.getByRole('link', { name: TEXTS.offline.again }).tap();
  await page.waitForURL(counter);
  await take(page, '9', '000');
  expect(await paymentsOf(userId)).toHaveLength(1);
  // That page was shown: the next customer with the same amount has a payment of their own.
  await page.locator('.back-link').tap();
  await take(page, '9', '000');
  expect(await paymentsOf(userId)).toHaveLength(2);
  await close();
});

it('an amount that the provider has rejected is another payment when it is entered again', async () => {
  const { email, userId } = await newCashier();
  const { page, close } = await open(counter, email);
  await service.injectFault('charge', 'reject');
  for (const name of ['3', '000']) await key(page, name).tap();
  const [response] = await Promise.all([page.waitForResponse(counter), showQr(page).tap()]);
  expect(response.status()).toBe(409);
  // The page has replaced the form, and its script has run.
  await page.getByText('The provider did not create a QR.').waitFor();
  await page.waitForLoadState();
  await page.goto(counter);
  await take(page, '3', '000');
  expect(await paymentsOf(userId)).toHaveLength(2);
  await close();
});

it('a code stays while the connection is lost, and its state is read when it is back', async () => {
  const { email } = await newCashier();
  const { page, close } = await open(counter, email);
  const reference = await take(page, '8', '000');
  await page.context().setOffline(true);
  // The second one comes while the page is read: both readings fail before the page shows anything.
  await page.evaluate("for (let n = 0; n < 2; n += 1) dispatchEvent(new Event('online'))");
  const note = page.locator('.connection p').first();
  await note.waitFor({ state: 'visible', timeout: 30_000 });
  expect(await note.textContent()).toMatch(/^No connection since \d\d:\d\d – /);
  expect(await page.locator('.qr svg').isVisible()).toBe(true);
  await screenshot(page, 'counter-lost');
  await service.pay(reference);
  await page.context().setOffline(false);
  await page.locator('.state.paid').waitFor({ timeout: 30_000 });
  expect(await note.isVisible()).toBe(false);
  await close();
});

it('the counter works without a script and by keyboard', async () => {
  const { email, userId } = await newCashier();
  const { page, close } = await open(counter, email, { javaScriptEnabled: false });
  expect(await page.locator('[data-key]:visible').count()).toBe(0);
  await page.locator('#amount').fill('15000');
  await page.keyboard.press('Enter');
  await onQr(page);
  await page.goto(counter);
  await page.locator('.usual button', { hasText: '15.000' }).focus();
  await page.keyboard.press('Enter');
  await onQr(page);
  expect((await paymentsOf(userId)).map(({ total }) => total)).toEqual([15_000, 15_000]);
  await close();
});

it('the last payments and the sum of the day follow what customers pay', async () => {
  const { email } = await newCashier();
  const { page, close } = await open(counter, email, PHONE);
  const reference = await take(page, '6', '000');
  await page.goto(counter);
  expect(await page.locator('.today b').textContent()).toBe('Rp\u00a00');
  await service.pay(reference);
  await page.getByText(TEXTS.today(1)).waitFor({ timeout: 30_000 });
  expect(await page.locator('.today b').textContent()).toBe('Rp\u00a06.000');
  expect(await page.locator('.chip').first().textContent()).toBe(DASHBOARD_TEXTS.en.statuses.paid);
  for (const width of [320, 360, 1280]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 760 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await screenshot(page, `counter-${width}-${colorScheme}`);
    }
  }
  await close();
});

describe('a slip', () => {
  it.each([181, 272])('fits on paper of %i pixels', async (width) => {
    const fields = { merchant_reference_id: 'Meja 7', description: 'Kopi susu' };
    const { referenceId } = await createPage(service, fields);
    const options = { colorScheme: 'dark', viewport: { width, height: 800 }, deviceScaleFactor: 3 } as const;
    const { page, close } = await open(`${home}/payments/${referenceId}/slip`, 'viewer@counter.test', options);
    await page.emulateMedia({ media: 'print' });
    const slip = page.locator('[data-slip]');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(Math.round((await slip.boundingBox())?.width ?? 0)).toBe(181);
    const lines = (await slip.innerText()).split('\n').filter(Boolean);
    expect(lines[0]).toBe(TEXTS.slipPage.notPaid);
    expect(lines).not.toContain(TEXTS.slipPage.paid);
    for (const text of ['Meja 7', 'Kopi susu']) expect(lines).toContain(text);
    expect(lines).toContain(referenceId);
    expect(await page.locator('button:visible, a:visible').count()).toBe(0);
    await screenshot(page, `slip-open-${width}`);
    await pay(referenceId);
    const paidAt = "update payments set paid_at = '2026-01-05T03:04:05Z' where reference_id = $1";
    await asSuperuser(service.db, { text: paidAt, values: [referenceId] });
    await page.reload();
    const paid = (await slip.innerText()).split('\n').filter(Boolean);
    expect(paid).toContain(TEXTS.slipPage.paid);
    expect(paid).not.toContain(TEXTS.slipPage.notPaid);
    expect(paid.filter((line) => line.endsWith(' 10:04:05 WIB'))).toHaveLength(1);
    await screenshot(page, `slip-paid-${width}`);
    await close();
  });
});

async function httpAs(email: string): Promise<HttpBrowser> {
  const client = new HttpBrowser(dashboard.url);
  const [name = '', value = ''] = (await dashboard.cookie(email)).split('=');
  client.cookies.set(name, value);
  return client;
}

const pathOf = (url: string) => url.slice(dashboard.url.length);

describe('a shift', () => {
  it('the page has the rows of the CSV; who sees the balance sees that the parts are equal', async () => {
    const { email, userId } = await newCashier();
    const { page, close } = await open(counter, email);
    const paid = await take(page, '5', '0', '000');
    await page.goto(counter);
    await take(page, '7', '000');
    await pay(paid);
    await page.goto(`${counter}/shift`);
    expect(await page.locator('dl').innerText()).toMatch(/Created\s+2\s+Paid\s+1\s+Refunded\s+0\s+Waiting\s+1/);
    // A cashier does not see the balance.
    expect(await page.getByText(TEXTS.shift.inBalance).count()).toBe(0);
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await screenshot(page, 'shift-cashier-360');
    await close();

    const owner = await open(`${counter}/shift?member=${userId}`, 'owner@counter.test', {});
    expect(await owner.page.locator('main').innerText()).toContain(TEXTS.shift.equal);
    const facts = (await owner.page.locator('dl').last().innerText()).replaceAll('\u00a0', ' ');
    expect(facts).toMatch(/Net of paid\s+Rp 49\.650\s+Of it in the balance\s+Rp 0\s+Not yet settled\s+Rp 49\.650/);
    await screenshot(owner.page, 'shift-owner');
    await owner.close();

    const linesFor = async (member: string) => {
      const client = await httpAs(member);
      const { body, headers } = await client.get(`${pathOf(counter)}/shift.csv?member=${userId}&delimiter=,`);
      expect(headers['content-type']).toBe('text/csv; charset=utf-8');
      const lines = body.replace('\uFEFF', '').trim().split('\r\n');
      return lines.map((line) => line.split(',').slice(3).join());
    };
    expect(await linesFor('owner@counter.test')).toEqual([
      'total,status,net,settled',
      '7000,pending,,',
      '50000,paid,49650,',
    ]);
    expect(await linesFor(email)).toEqual(['total,status', '7000,pending', '50000,paid']);
  });

  it('names a time that is not possible beside its field', async () => {
    const client = await httpAs('cashier@counter.test');
    const at = (query: string) => client.get(`${pathOf(counter)}/shift?${query}`);
    const { errors } = TEXTS.shift;
    for (const [query, text] of [
      ['from=yesterday', errors.time],
      ['from=2026-11-02T00:00&to=2026-11-01T00:00', errors.order],
      ['from=2026-11-01T00:00&to=2026-11-02T00:01', errors.day],
      ['from=2026-02-30T00:00', errors.time],
    ] as const) {
      const { status, body } = await at(query);
      expect([query, status, body.includes(text)]).toEqual([query, 422, true]);
    }
    expect((await at('from=2026-11-01T00:00&to=2026-11-02T00:00')).status).toBe(200);
  });
});

describe('rights', () => {
  it('a member without the team sees only their own shift; others see those of members', async () => {
    const [cashier = '', owner = ''] = [users.get('cashier'), users.get('owner')];
    const statusOf = async (role: string, member: string, name = 'shift') =>
      (await (await httpAs(`${role}@counter.test`)).get(`${pathOf(counter)}/${name}?member=${member}`)).status;
    expect([await statusOf('cashier', cashier), await statusOf('cashier', owner)]).toEqual([200, 404]);
    expect(await statusOf('cashier', owner, 'shift.csv')).toBe(404);
    expect(await statusOf('support', owner)).toBe(404);
    expect([await statusOf('owner', cashier), await statusOf('owner', cashier, 'shift.csv')]).toEqual([200, 200]);
    const stranger = await createMember(service.db, 'stranger@counter.test');
    expect(await statusOf('owner', stranger)).toBe(404);
  });

  it('the shift of a former member stays for those who see the team, and the former member sees nothing', async () => {
    const { email, userId } = await newCashier();
    const client = await httpAs(email);
    const taken = await client.post(pathOf(counter), [
      ['amount', '40000'],
      ['form_id', randomUUID()],
    ]);
    const reference = /payments\/(\w+)\/qr/.exec(taken.headers.location ?? '')?.[1] ?? '';
    await pay(reference);
    const of = { merchantId: service.merchantId, userId, now: new Date() };
    const shiftAs = async (viewer: string, name = 'shift') =>
      (await httpAs(viewer)).get(`${pathOf(counter)}/${name}?member=${userId}`);

    expect(await changeMemberRow(service.db, { ...of, role: 'viewer' })).toBe('changed');
    expect((await shiftAs(email)).status).toBe(403);
    expect((await shiftAs('owner@counter.test')).body).toContain(reference);

    expect(await changeMemberRow(service.db, { ...of, role: null })).toBe('changed');
    const { status, body } = await shiftAs('owner@counter.test');
    expect(status).toBe(200);
    const { former, equal } = TEXTS.shift;
    for (const text of [TEXTS.shift.of(former('Sri Rahayu')), reference, equal]) expect(body).toContain(text);
    expect(body).toContain(`<option value="${userId}" selected="">${former('Sri Rahayu')}</option>`);
    expect((await shiftAs('owner@counter.test', 'shift.csv')).body).toContain(reference);
    expect((await shiftAs('support@counter.test')).status).toBe(404);
    for (const name of ['shift', 'shift.csv']) expect((await shiftAs(email, name)).status).toBe(404);
    expect((await client.get(pathOf(counter))).status).toBe(404);
  });

  it('nothing of another merchant is there, and a viewer takes no payment', async () => {
    const { referenceId } = await createPage(service);
    const owner = await httpAs('owner@counter.test');
    const of = (base: string) =>
      ['/counter', '/counter/shift', '/counter/shift.csv', `/payments/${referenceId}/slip`].map(
        (each) => pathOf(base) + each,
      );
    for (const each of of(foreign)) expect([each, (await owner.get(each)).status]).toEqual([each, 404]);
    const viewer = await httpAs('viewer@counter.test');
    const statuses = await Promise.all(of(home).map(async (each) => (await viewer.get(each)).status));
    expect(statuses).toEqual([403, 403, 403, 200]);
    expect((await viewer.post(pathOf(counter), [['amount', '5000']])).status).toBe(403);
  });
});

describe('the app', () => {
  it('the manifest, the small worker and the page without a connection have no data', async () => {
    const stranger = new HttpBrowser(dashboard.url);
    const code = home.slice(-8);
    const manifest = await stranger.get(`/counter.webmanifest?code=${code}`);
    expect(manifest.headers['content-type']).toBe('application/manifest+json; charset=utf-8');
    const { start_url: start, display, icons } = JSON.parse(manifest.body);
    expect([start, display]).toEqual([`/m/${code}/counter`, 'standalone']);
    for (const { src } of icons) expect((await stranger.get(src)).headers['content-type']).toBe('image/png');
    expect((await stranger.get('/counter.webmanifest?code=../..')).status).toBe(404);
    const worker = await stranger.get('/counter-worker.js');
    console.info(`counter: a worker of ${worker.body.length} bytes`);
    expect(worker.body.length).toBeLessThanOrEqual(2_048);
    for (const { body, status } of [await stranger.get('/offline'), worker, manifest]) {
      expect(status).toBe(200);
      expect(body).not.toContain('Toko');
    }
    const policy = String((await stranger.get('/login')).headers['content-security-policy']);
    expect(policy).toContain("manifest-src 'self'; worker-src 'self'");
  });
});
