import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createCanvas } from '@napi-rs/canvas';
import type { Browser, Page, Route } from 'playwright-core';
import { DerivedKeys } from '../../../src/crypto/derived-keys';
import { PublicLinks } from '../../../src/crypto/public-links';
import { createSealer } from '../../../src/crypto/sealing';
import { deleteLogo, replaceLogo } from '../../../src/db/merchants/merchant-logos';
import type { PaymentStatus } from '../../../src/domain/payment-transitions';
import { freePort } from '../../../src/local-stack/ports';
import { changeMerchant } from '../../../src/services/merchants/merchants';
import { CHECKOUT_STATES, type CheckoutState } from '../../../src/web/checkout/checkout-state';
import { TEXTS } from '../../../src/web/checkout/texts';
import { startApiProcess } from '../../support/api-process';
import { decodeQr, findAccessibilityViolations, openPage, startBrowser } from '../../support/browser';
import { destroyAll, openStream, openStreams, statusesOf } from '../../support/event-streams';
import { eventually } from '../../support/eventually';
import { createTestLink, pressButton } from '../../support/payment-links';
import { createPage } from '../../support/payment-page';
import { seedPayments } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
let browser: Browser;
let directory: string;
beforeAll(async () => {
  [service, browser] = await Promise.all([
    newNamespace().then((namespace) => startTestService(namespace)),
    startBrowser(),
  ]);
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-checkout-'));
  await seedPayments(service.db, service.merchantId, {
    count: 100,
    from: '2026-11-01T00:00:00Z',
    rareOneIn: 3,
    sameReference: 3,
  });
  // The payments above have an account of their own, whose server does not exist.
  await service.db.query("update provider_accounts set status = 'disabled' where base_url <> $1", [service.sandboxUrl]);
});
afterAll(async () => {
  await browser.close();
  await service.close();
  await rm(directory, { recursive: true });
});

const SIZES = [
  { width: 320, height: 640 },
  { width: 1280, height: 900 },
] as const;
const SCHEMES = ['light', 'dark'] as const;
const VARIANTS = SCHEMES.flatMap((scheme) => SIZES.map((size) => [scheme, size] as const));

const STATUS_OF: Readonly<Record<CheckoutState, PaymentStatus>> = {
  preparing: 'created',
  waiting: 'pending',
  checking: 'pending',
  paid: 'paid',
  refund_processing: 'refund_processing',
  refund_failed: 'refund_failed',
  refunded: 'refunded',
  expired: 'expired',
  cancelled: 'cancelled',
  failed: 'failed',
};

async function screenshot(page: Page, name: string): Promise<string> {
  const file = path.join(process.env.SCREENSHOTS ?? directory, `${name}.png`);
  await page.screenshot({ path: file, fullPage: true });
  return file;
}

const heading = (page: Page): Promise<string | null> => page.locator('h1').textContent();

/** Waits until the page shows the state, without a reload by the test. */
async function untilState(page: Page, state: CheckoutState): Promise<void> {
  await page.locator('h1', { hasText: TEXTS.en.states[state].title }).waitFor({ timeout: 90_000 });
}

/** The address of a page of a payment that was written with this status. */
async function seededPage(state: CheckoutState): Promise<string> {
  if (state === 'waiting') return (await createPage(service)).url;
  const { rows } = await service.db.query<{ id: string; fingerprint: string }>(
    'select id, fingerprint from payments where status = $1 and expires_at < now() limit 1',
    [STATUS_OF[state]],
  );
  const [payment] = rows;
  if (!payment) throw new Error(`No payment is ${state}`);
  const keys = new DerivedKeys(service.db, createSealer(service.masterKey));
  return new PublicLinks(keys, 'checkout', service.apiUrl).urlOf(payment);
}

describe.each(CHECKOUT_STATES)('a payment that is %s', (state) => {
  it.each(['id', 'en'] as const)('%s: is accessible in each size and scheme', async (language) => {
    const { page, problems, close } = await openPage(browser, `${await seededPage(state)}?lang=${language}`);
    expect(await heading(page)).toBe(TEXTS[language].states[state].title);
    expect(await page.evaluate('document.documentElement.lang')).toBe(language);
    const codes: string[] = [];
    for (const [colorScheme, size] of VARIANTS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      const variant = `${state}-${language}-${colorScheme}-${size.width}`;
      expect([variant, await findAccessibilityViolations(page)]).toEqual([variant, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(size.width);
      const isOpen = state === 'waiting';
      expect([variant, await page.locator('figure svg').count()]).toEqual([variant, isOpen ? 1 : 0]);
      if (isOpen) codes.push(...decodeQr(await screenshot(page, variant)));
    }
    codes.push(...decodeQr(await screenshot(page, `${state}-${language}`)));
    expect(codes).toHaveLength(state === 'waiting' ? VARIANTS.length + 1 : 0);
    expect(problems).toEqual([]);
    await close();
  });
});

const OPEN_AMOUNT = { minimum_amount: 10_000, maximum_amount: 2_000_000 } as const;

/** The address of the page of a link, by what its visitor sees. */
const LINK_PAGES: Readonly<Record<string, () => Promise<string>>> = {
  'a fixed amount': async () => (await createTestLink(service)).url,
  'an amount to type': async () => (await createTestLink(service, { kind: 'reusable', ...OPEN_AMOUNT })).url,
  'another amount': async () => {
    const link = await createTestLink(service, OPEN_AMOUNT);
    expect((await pressButton(link, { amount: '50.000' })).status).toBe(303);
    return link.url;
  },
  'an end': async () => {
    const link = await createTestLink(service);
    await service.call('POST', `/payment-links/${link.id}/close`);
    return link.url;
  },
};

describe.each(Object.keys(LINK_PAGES))('the page of a link with %s', (name) => {
  it.each(['id', 'en'] as const)('%s: is accessible in each size and scheme', async (language) => {
    const { page, problems, close } = await openPage(browser, `${await LINK_PAGES[name]?.()}?lang=${language}`);
    for (const [colorScheme, size] of VARIANTS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      const variant = `link-${name.replaceAll(' ', '-')}-${language}-${colorScheme}-${size.width}`;
      expect([variant, await findAccessibilityViolations(page)]).toEqual([variant, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(size.width);
      await screenshot(page, variant);
    }
    expect(await page.locator('main .button').count()).toBe(name === 'an end' ? 0 : 1);
    expect(problems).toEqual([]);
    await close();
  });
});

it('the currency stands on one line beside the amount that a customer types, also with an error', async () => {
  const { page, close } = await openPage(browser, `${await LINK_PAGES['an amount to type']?.()}?lang=en`);
  await page.setViewportSize({ width: 320, height: 640 });
  const heightOf = async (selector: string) => (await page.locator(selector).boundingBox())?.height ?? NaN;
  expect(await heightOf('.chosen-amount > span > span')).toBeLessThan(50);
  await page.fill('#amount', '5');
  await page.getByRole('button', { name: 'Pay by QRIS' }).click();
  await page.getByText('Enter an amount from Rp 10.000 to Rp 2.000.000.').waitFor();
  expect(await page.inputValue('#amount')).toBe('5');
  expect(await heightOf('.chosen-amount > span > span')).toBeLessThan(50);
  await close();
});

it('an unknown page has no violation', async () => {
  const { page, problems, close } = await openPage(browser, `${service.apiUrl}/pay/unknown`);
  expect(await heading(page)).toBe('Page not found');
  expect(await findAccessibilityViolations(page)).toEqual([]);
  // Chromium reports each document that is not 200.
  expect(problems).toEqual([expect.stringContaining('404')]);
  await close();
});

describe('a customer', () => {
  it('scans the screen, and sees the payment without a reload', async () => {
    const { url, payload, referenceId } = await createPage(service);
    const { page, problems, close } = await openPage(browser, url);
    expect(decodeQr(await screenshot(page, 'open'))).toEqual([payload]);
    await page.evaluate('window.isSamePage = true');
    await service.pay(referenceId);
    await untilState(page, 'paid');
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    expect(await page.locator('#announcement').textContent()).toBe(TEXTS.en.states.paid.title);
    expect(decodeQr(await screenshot(page, 'paid'))).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  });

  it.each([['id'], ['en']])('saves the image (%s), which decodes to the payload', async (language) => {
    const { url, payload, referenceId } = await createPage(service, { amount: 1_250_000 });
    const { page, close } = await openPage(browser, `${url}?lang=${language}`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('.save').click()]);
    expect(download.suggestedFilename()).toBe(`qris-${referenceId}.png`);
    const file = path.join(process.env.SCREENSHOTS ?? directory, `saved-${language}.png`);
    await download.saveAs(file);
    expect(decodeQr(file)).toEqual([payload]);
    await close();
  });

  it('sees amount, deadline and the way to pay on a phone without scrolling, and shares the image', async () => {
    const { url } = await createPage(service, { amount: 9_999_999 });
    const phone = { viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true };
    const script = `navigator.canShare = () => true;
      navigator.share = async ({ files }) => { window.shared = files[0].size; };`;
    const { page, problems, close } = await openPage(browser, url, phone, script);
    for (const part of ['.amount', '.deadline', '[data-share]']) {
      const box = await page.locator(part).boundingBox();
      expect([part, (box?.y ?? NaN) + (box?.height ?? NaN) < phone.viewport.height]).toEqual([part, true]);
    }
    expect(await findAccessibilityViolations(page)).toEqual([]);
    // Without a connection too.
    await eventually(
      () => page.evaluate("performance.getEntriesByType('resource').some(({ name }) => name.includes('qris.png'))"),
      (isThere) => isThere === true,
    );
    await page.context().setOffline(true);
    await page.locator('[data-share]').tap();
    await eventually(
      () => page.evaluate('window.shared'),
      (size) => Number(size) > 1_000,
    );
    expect(await page.locator('[data-after-saving]').getAttribute('open')).toBe('');
    expect(problems).toEqual([]);
    await close();
  });

  it('sees the whole page on a wide screen, with what the order is for', async () => {
    const description = 'Kopi susu <2>';
    const order = { merchant_reference_id: 'ORDER-7', metadata: { description } };
    const { url, paymentId } = await createPage(service, order);
    await changeMerchant(service.db, service.merchantId, { contact: '+62 812-3456' });
    const { page, problems, close } = await openPage(browser, url, { viewport: { width: 1280, height: 720 } });
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(720);
    expect(await page.locator('dd').allTextContents()).toEqual(['ORDER-7', description, expect.stringMatching(/^LN/)]);
    expect(await page.locator('.contact a').getAttribute('href')).toBe('tel:+628123456');
    const png = createCanvas(128, 64).encodeSync('png');
    await replaceLogo(service.db, service.merchantId, { png, width: 128, height: 64 });
    await service.db.query("update merchants set accent = '#ffd500' where id = $1", [service.merchantId]);
    await changeMerchant(service.db, service.merchantId, { returnUrl: `${service.apiUrl}/returned` });
    await page.reload();
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(720);
    await service.call('POST', `/payments/${paymentId}/cancel`);
    await untilState(page, 'cancelled');
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(720);
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await service.db.query('update merchants set accent = null');
    await deleteLogo(service.db, service.merchantId);
    await changeMerchant(service.db, service.merchantId, { contact: null, returnUrl: null });
    expect(problems).toEqual([]);
    await close();
  });

  it('returns to the shop after the payment, unless it stays; a later look at the page does not leave it', async () => {
    await changeMerchant(service.db, service.merchantId, { returnUrl: `${service.apiUrl}/returned` });
    const [first, second] = [await createPage(service), await createPage(service)];
    const [one, other] = await Promise.all([first, second].map(({ url }) => openPage(browser, url)));
    if (!one || !other) throw new Error('No page');
    await Promise.all([first, second].map(({ referenceId }) => service.pay(referenceId)));
    await other.page.locator('[data-returning]').waitFor();
    await other.page.locator('h1').click();
    expect(await other.page.locator('[data-returning]').isVisible()).toBe(false);
    await one.page.waitForURL('**/returned');
    expect(new URL(other.page.url()).pathname).toBe(new URL(second.url).pathname);
    await other.page.reload();
    expect(await other.page.locator('[data-returning]').isVisible()).toBe(false);
    expect(await other.page.locator('[data-print]').isVisible()).toBe(true);
    const receipt = other.page.locator(`a[download="receipt-${second.referenceId}.png"]`);
    const [download] = await Promise.all([other.page.waitForEvent('download'), receipt.click()]);
    await download.saveAs(path.join(process.env.SCREENSHOTS ?? directory, 'receipt.png'));
    expect((await fetch(`${first.url}/qris.png`)).status).toBe(404);
    await changeMerchant(service.db, service.merchantId, { returnUrl: null });
    await Promise.all([one.close(), other.close()]);
  });

  it('a customer can stay until the page has another state, however often the page is requested again', async () => {
    await changeMerchant(service.db, service.merchantId, { returnUrl: `${service.apiUrl}/returned` });
    const { url, paymentId, referenceId } = await createPage(service);
    const { page, close } = await openPage(browser, 'about:blank');
    await page.clock.install();
    await page.goto(url);
    await page.clock.pauseAt(Date.now() + 60_000);
    await service.pay(referenceId);
    await untilState(page, 'paid');
    expect(await page.locator('[data-returning]').isVisible()).toBe(true);
    const [again] = await Promise.all([
      page.waitForResponse(url),
      page.evaluate("document.dispatchEvent(new Event('visibilitychange'))"),
    ]);
    await again.finished();
    const untilShown = () => page.evaluate('fetch(location.href).then((response) => response.text())');
    await untilShown();
    expect(await page.locator('[data-returning] button').isVisible()).toBe(true);
    await service.call('POST', `/payments/${paymentId}/refund`);
    await untilState(page, 'refund_processing');
    await page.clock.runFor(10_000);
    await untilShown();
    expect(page.url()).toBe(url);
    await changeMerchant(service.db, service.merchantId, { returnUrl: null });
    await close();
  });

  it('pays without script: code, image and a reload', async () => {
    const { url, payload, referenceId } = await createPage(service);
    const { page, problems, close } = await openPage(browser, url, { javaScriptEnabled: false });
    expect(decodeQr(await screenshot(page, 'no-script'))).toEqual([payload]);
    const image = path.join(directory, 'no-script-saved.png');
    await writeFile(image, Buffer.from(await (await fetch(`${url}/qris.png`)).arrayBuffer()));
    expect(decodeQr(image)).toEqual([payload]);
    await service.pay(referenceId);
    await untilState(page, 'paid');
    expect(problems).toEqual([]);
    await close();
  });

  it.each([-3_600_000, 3_600_000])(
    'a customer whose clock is %s ms off sees the countdown of the server',
    async (offsetMs) => {
      const { url } = await createPage(service);
      const script = `const RealDate = Date; globalThis.Date = class extends RealDate {
      constructor(...values) { values.length ? super(...values) : super(RealDate.now() + ${offsetMs}); }
      static now() { return RealDate.now() + ${offsetMs}; } };`;
      const { page, problems, close } = await openPage(browser, url, {}, script);
      const [shown, atMs] = [await page.locator('[role=timer]').textContent(), Date.now()];
      const expiresAtMs = Date.parse((await page.locator('time').getAttribute('datetime')) ?? '');
      const [minutes = NaN, seconds = NaN] = (shown ?? '').split(':').map(Number);
      expect(Math.abs(minutes * 60_000 + seconds * 1_000 - (expiresAtMs - atMs))).toBeLessThan(30_000);
      expect(problems).toEqual([]);
      await close();
    },
  );

  it('sees no code after the deadline, also if the service does not respond', async () => {
    const { url, paymentId } = await createPage(service);
    const { page, close } = await openPage(browser, 'about:blank');
    await page.clock.install();
    await page.goto(url);
    expect(await page.locator('figure svg').count()).toBe(1);
    expect(await page.locator('#offline').isVisible()).toBe(false);
    await page.context().setOffline(true);
    await page.locator('#offline').waitFor();
    await service.db.query("update payments set expires_at = now() - interval '1 s' where id = $1", [paymentId]);
    await page.clock.fastForward('16:00');
    await untilState(page, 'checking');
    expect(decodeQr(await screenshot(page, 'after-deadline'))).toEqual([]);
    expect((await fetch(`${url}/qris.png`)).status).toBe(404);
    await page.context().setOffline(false);
    await page.locator('.note').waitFor({ timeout: 90_000 });
    expect(await page.locator('#offline').isVisible()).toBe(false);
    await close();
  });

  it('sees the payment although its event arrives before the response to an earlier request', async () => {
    const { url, referenceId } = await createPage(service);
    const script = `const Real = EventSource; window.events = 0;
      window.EventSource = class extends Real {
        constructor(address) { super(address); this.addEventListener('status', () => { window.events += 1; }); }
      };`;
    const { page, problems, close } = await openPage(browser, url, {}, script);
    const events = () => page.evaluate('window.events');
    const holdOld = async (route: Route) => {
      const [response, before] = [await route.fetch(), await events()];
      await service.pay(referenceId);
      await eventually(events, (now) => now !== before);
      await route.fulfill({ response });
    };
    await page.route(url, holdOld, { times: 1 });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await untilState(page, 'paid');
    expect(problems).toEqual([]);
    await close();
  });

  it('sees the payment although its stream is rejected, and does not seem to be offline', async () => {
    const { url, referenceId } = await createPage(service);
    const streams = await openStreams(10, () => openStream(`${url}/events?seen=2`));
    const script = `const setSlowly = window.setTimeout.bind(window);
      window.setTimeout = (work, delayMs, ...args) => setSlowly(work, delayMs / 10, ...args);`;
    const { page, close } = await openPage(browser, url, {}, script);
    const polled = () => page.waitForResponse(url);
    await polled();
    await polled();
    expect(await page.locator('#offline').isVisible()).toBe(false);
    await service.pay(referenceId);
    await untilState(page, 'paid');
    expect(statusesOf(streams)).toEqual([200]);
    destroyAll(streams);
    await close();
  });

  it('sees the payment although the API was killed and came back', async () => {
    const port = String(await freePort());
    const { url, referenceId } = await createPage(service);
    const first = await startApiProcess(service, { PORT: port });
    const { page, close } = await openPage(browser, url.replace(service.apiUrl, `http://127.0.0.1:${port}`));
    first.signal('SIGKILL');
    await first.stop();
    await service.pay(referenceId);
    await eventually(
      () => service.call('GET', `/payments/${referenceId}`),
      ({ body }) => body.payment.status === 'paid',
    );
    expect(await heading(page)).toBe(TEXTS.en.states.waiting.title);
    const second = await startApiProcess(service, { PORT: port });
    await untilState(page, 'paid');
    await close();
    await second.stop();
  });

  it('uses the keyboard only: language, image, steps', async () => {
    const { url } = await createPage(service);
    const { page, close } = await openPage(browser, url);
    const reached: unknown[] = [];
    for (let presses = 0; presses < 3; presses += 1) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate('document.activeElement.tagName'));
    }
    expect(reached).toEqual(['A', 'SUMMARY', 'A']);
    await close();
  });
});
