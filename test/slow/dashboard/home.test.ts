import type { Browser, Page } from 'playwright-core';
import { endOfDay, startOfDay } from '../../../src/web/ui/format';
import { findAccessibilityViolations, openPage, startBrowser } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { createMember, createShop } from '../../support/people';
import { fillTotals, seedPayments } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const ZONE = 'Asia/Makassar';

let service: TestService;
let dashboard: TestDashboard;
let browser: Browser;
let merchantId: string;
let home: string;

beforeAll(async () => {
  [service, browser] = await Promise.all([
    newNamespace().then((namespace) => startTestService(namespace)),
    startBrowser(),
  ]);
  dashboard = await startTestDashboard(service);
  const shop = await createShop(service.db, 'Toko Baru');
  merchantId = shop.id;
  await createMember(service.db, 'owner@shop.test', [[merchantId, 'owner']]);
  const { rows } = await service.db.query<{ code: string }>(
    'update merchants set time_zone = $2 where id = $1 returning code',
    [merchantId, ZONE],
  );
  home = `${dashboard.url}/m/${rows[0]?.code}`;
});
afterAll(async () => {
  await dashboard.close();
  await browser.close();
  await service.close();
});

async function open(url: string, options = {}) {
  const opened = await openPage(browser, 'about:blank', options);
  await dashboard.signIn(opened.page.context(), 'owner@shop.test');
  await opened.page.goto(url, { waitUntil: 'load' });
  return opened;
}

const digits = (text: string | null) => Number((text ?? '').replaceAll(/[^\d]/g, ''));

/** Each figure with its link. */
async function figuresOf(page: Page) {
  const links = await page.locator('.figures a').all();
  return Promise.all(
    links.map(async (link) => ({
      name: await link.locator('span').first().textContent(),
      value: (await link.locator('b').textContent()) ?? '',
      hint: (await link.locator('span').last().textContent()) ?? '',
      path: (await link.getAttribute('href')) ?? '',
    })),
  );
}

/** Count and sums of the payments that a list of the page has. */
async function readPayments(path: string) {
  const query = new URL(path, dashboard.url).searchParams;
  const statuses = ['paid', 'settled', 'refund_processing', 'refund_failed', 'refunded'];
  if (query.get('group') === 'ended') statuses.push('expired', 'failed');
  const days = [startOfDay(query.get('from') ?? '', ZONE), endOfDay(query.get('to') ?? '', ZONE)];
  const { rows } = await service.db.query<{ payments: number; total: number; net: number }>(
    `select count(*)::integer as payments, coalesce(sum(total_rupiah), 0)::bigint as total,
       coalesce(sum(net_rupiah), 0)::bigint as net
     from payments where merchant_id = $1 and status = any($2) and created_at between $3 and $4`,
    [merchantId, statuses, ...days],
  );
  return rows[0] ?? { payments: -1, total: -1, net: -1 };
}

it('a new merchant has zeros, and no chart without a value', async () => {
  const { page, problems, close } = await open(home);
  expect((await figuresOf(page)).map(({ value }) => digits(value))).toEqual([0, 0, 0, 0]);
  expect(await page.locator('[data-part=chart] svg a').count()).toBe(0);
  expect(await findAccessibilityViolations(page)).toEqual([]);
  await screenshots('new', home);
  expect(problems).toEqual([]);
  await close();
});

it.each(['today', '7d', '30d'])('each figure of %s is that of the list behind its link', async (range) => {
  await fillOnce();
  const { page, problems, close } = await open(`${home}?range=${range}`);
  const [paid, payments, success, net] = await figuresOf(page);
  for (const { path } of [paid, payments, success, net].filter((each) => each !== undefined)) {
    const expected = await readPayments(path);
    const list = await open(new URL(path, dashboard.url).href);
    const sum = await list.page.locator('[data-part=sum] b').textContent();
    expect(digits(sum?.split('·')[0] ?? '')).toBe(expected.payments);
    expect(digits(sum?.split('·')[1] ?? '')).toBe(expected.total);
    await list.close();
  }
  const expected = await readPayments(paid?.path ?? '');
  const ended = await readPayments(success?.path ?? '');
  expect(digits(paid?.value ?? '')).toBe(expected.total);
  expect(digits(payments?.value ?? '')).toBe(expected.payments);
  expect(digits(net?.value ?? '')).toBe(expected.net);
  expect(success?.hint).toBe(`${expected.payments} of ${ended.payments} that ended`);
  expect(expected.payments).toBeGreaterThan(0);

  // The bars add up to the figure, and each has its list.
  const texts = await page.locator('[data-part=chart] svg a').allTextContents();
  expect(texts).toHaveLength({ today: 24, '7d': 7, '30d': 30 }[range] ?? 0);
  const counts = texts.map((text) => Number(/(\d+) payments$/.exec(text)?.[1]));
  expect(counts.reduce((total, count) => total + count, 0)).toBe(expected.payments);
  await screenshots(range, `${home}?range=${range}`);
  expect(problems).toEqual([]);
  await close();
});

let isFilled = false;

/** 500 payments over three days, up to now. */
async function fillOnce(): Promise<void> {
  if (isFilled) return;
  isFilled = true;
  await seedPayments(service.db, merchantId, {
    count: 500,
    from: new Date(Date.now() - 3_600_000).toISOString(),
    rareOneIn: 3,
    sameReference: 3,
  });
  await service.db.query(
    `update payments set created_at = now() - random() ^ 2 * interval '3 days',
       amount_rupiah = 50000, total_rupiah = total_rupiah
     where merchant_id = $1`,
    [merchantId],
  );
  await fillTotals(service.db, merchantId);
}

/** Files to look at, if `SCREENSHOTS` names a directory. */
async function screenshots(name: string, url: string): Promise<void> {
  const directory = process.env.SCREENSHOTS;
  if (directory === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [390, 1280]) {
      const { page, close } = await open(url, { colorScheme, viewport: { width, height: 900 } });
      await page.screenshot({ path: `${directory}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      await close();
    }
}
