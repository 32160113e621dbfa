import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import type { MemberRole } from '../../../src/domain/member-roles';
import { dayInWib } from '../../../src/domain/wib';
import { HOME_TEXTS } from '../../../src/web/dashboard/home/home-texts';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { endOfDay, formatTime, startOfDay } from '../../../src/web/ui/format';
import { findAccessibilityViolations, openPage, startBrowser } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { HttpBrowser } from '../../support/http-browser';
import { issueKey, revokeAsOperator } from '../../support/keys';
import { createMember, createShop } from '../../support/people';
import { fillTotals, seedPayments } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const ZONE = 'Asia/Makassar';
const TEXTS = DASHBOARD_TEXTS.en;

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

async function open(url: string, options = {}, email = 'owner@shop.test') {
  const opened = await openPage(browser, 'about:blank', options);
  await dashboard.signIn(opened.page.context(), email);
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
  if (query.get('group') === 'tried') statuses.push('failed');
  const days = [startOfDay(query.get('from') ?? '', ZONE), endOfDay(query.get('to') ?? '', ZONE)];
  const { rows } = await service.db.query<{ payments: number; total: number; net: number }>(
    `select count(*)::integer as payments, coalesce(sum(total_rupiah), 0)::bigint as total,
       coalesce(sum(net_rupiah) filter (where status <> all('{refunded,expired,failed}')), 0)::bigint as net
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
    const received = await list.page.locator('[data-part=sum] .dim .unbroken').textContent();
    expect(digits(received)).toBe(expected.net);
    expect(digits(sum?.split('·')[0] ?? '')).toBe(expected.payments);
    expect(digits(sum?.split('·')[1] ?? '')).toBe(expected.total);
    await list.close();
  }
  const expected = await readPayments(paid?.path ?? '');
  const tried = await readPayments(success?.path ?? '');
  expect(digits(paid?.value ?? '')).toBe(expected.total);
  expect(digits(payments?.value ?? '')).toBe(expected.payments);
  expect(digits(net?.value ?? '')).toBe(expected.net);
  expect(success?.hint).toBe(`${expected.payments} of ${tried.payments} that customers tried`);
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

/** The rows of a part of the page, or null if it has no such part. */
function partOf(body: string, name: string): string | null {
  return new RegExp(`data-part="${name}".*?</section>`, 's').exec(body)?.[0] ?? null;
}

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '').replaceAll('&#x27;', "'");

function rowsIn(part: string | null) {
  return Array.from((part ?? '').matchAll(/<li.*?<\/li>/gs), ([row]) => {
    const [text = '', hint] = Array.from(row.matchAll(/<p[^>]*>(.*?)<\/p>/gs), ([, html = '']) => textOf(html));
    const href = /<a[^>]* href="([^"]+)"/.exec(row)?.[1]?.replaceAll('&amp;', '&');
    return { text, hint, href };
  });
}

interface Shop {
  readonly id: string;
  readonly path: string;
  /** A browser that is signed in as the first member with the role. */
  as(role: MemberRole): Promise<HttpBrowser>;
}

async function newShop(name: string, roles: readonly MemberRole[]): Promise<Shop> {
  const shop = await createShop(service.db, name);
  const emailOf = (role: MemberRole) => `${role}@${shop.code.toLowerCase()}.test`;
  for (const role of roles) await createMember(service.db, emailOf(role), [[shop.id, role]]);
  return {
    id: shop.id,
    path: `/m/${shop.code}`,
    async as(role) {
      const signedIn = new HttpBrowser(dashboard.url);
      const [cookie = '', value = ''] = (await dashboard.cookie(emailOf(role))).split('=');
      signedIn.cookies.set(cookie, value);
      return signedIn;
    },
  };
}

/** Webhooks of the shop's payments, one for each, with these statuses and ages in days. */
async function insertDeliveries(
  shopId: string,
  endpointId: string,
  deliveries: readonly (readonly [string, number])[],
) {
  await service.db.query(
    `with given as (
       select status, now() - age * interval '1 day' as at, row_number() over () as n
       from unnest($3::text[], $4::numeric[]) as delivery (status, age)
     ), numbered as (
       select id, row_number() over (order by created_at, id) as n from payments
       where merchant_id = $1 and not exists (select from payment_transitions where payment_id = payments.id)
     ), transition as (
       insert into payment_transitions (payment_id, version, name, to_status, occurred_at, actor)
       select id, 1, 'create', 'created', at, 'workflow' from given join numbered using (n) returning payment_id
     ), event as (
       insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
       select payment_id, 1, 'payment.created', '{}', now() from transition returning payment_id
     )
     insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status,
       dead_reason, created_at, queued_at, finished_at)
     select gen_random_uuid(), numbered.id, 1, $2, $1, 'payment.created', status,
       case status when 'dead' then 'attempts_exhausted' end, at, at, now()
     from given join numbered using (n) join event on event.payment_id = numbered.id`,
    [shopId, endpointId, deliveries.map(([status]) => status), deliveries.map(([, age]) => age)],
  );
}

async function insertEndpoint(shopId: string, url: string, columns: Readonly<Record<string, unknown>> = {}) {
  const row = { id: randomUUID(), merchant_id: shopId, url, ...columns };
  const names = Object.keys(row);
  await service.db.query(
    `insert into webhook_endpoints (${names.join()}) values (${names.map((_, index) => `$${index + 1}`).join()})`,
    Object.values(row),
  );
  return row.id;
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

describe('what needs attention', () => {
  const { attention } = HOME_TEXTS.en;
  const onlyRoles = TEXTS.onlyRoles([TEXTS.roles.owner, TEXTS.roles.developer]);
  let shop: Shop;
  let keyId: string;
  let endpointId: string;
  const failingSince = inDays(-0.5);
  const expiresAt = inDays(3);

  beforeAll(async () => {
    shop = await newShop('Toko Perhatian', ['owner', 'support', 'finance', 'cashier']);
    const { db } = service;
    await seedPayments(db, shop.id, { count: 30, from: inDays(-1).toISOString(), rareOneIn: 3, sameReference: 3 });
    const key = { merchantId: shop.id, environment: 'sandbox' } as const;
    keyId = (await issueKey(db, { ...key, name: 'Kasir', expiresAt })).id;
    // None of these needs attention.
    await issueKey(db, { ...key, expiresAt: inDays(8) });
    await issueKey(db, { ...key, expiresAt: inDays(-1) });
    await revokeAsOperator(db, (await issueKey(db, { ...key, expiresAt })).id);
    const off = { status: 'disabled', disabled_reason: 'failing' };
    await insertEndpoint(shop.id, 'https://deleted.test/', { ...off, deleted_at: new Date() });
    await insertEndpoint(shop.id, 'https://disabled.test/', { ...off, disabled_reason: 'merchant' });
    endpointId = await insertEndpoint(shop.id, 'https://shop.test/secret-path', {
      consecutive_failures: 5,
      failing_since: failingSince,
    });
    await insertEndpoint(shop.id, 'https://old.test/secret-path', off);
    await insertDeliveries(shop.id, endpointId, [
      ['dead', 0],
      ['dead', 3],
      ['dead', 5.9],
      ['dead', 8],
      ['delivered', 1],
    ]);
    // Another merchant has all of it too.
    const other = await createShop(db, 'Toko Lain');
    await issueKey(db, { ...key, merchantId: other.id, expiresAt });
    await insertEndpoint(other.id, 'https://other.test/', { consecutive_failures: 1, failing_since: failingSince });
  });

  it('the attention is a list of links, the most urgent first, each with what to do', async () => {
    const owner = await shop.as('owner');
    const { body } = await owner.get(shop.path);
    const rows = rowsIn(partOf(body, 'attention'));
    const at = (date: Date) => formatTime(date, 'short', { language: 'en', zone: 'Asia/Jakarta' });
    expect(rows.map(({ text, hint }) => [text, hint])).toEqual([
      [TEXTS.home.refundsFailed('1'), undefined],
      [attention.dead('3'), attention.redeliver],
      [attention.stopped('https://old.test'), attention.enable],
      [attention.failing('https://shop.test', at(failingSince)), attention.checkReceiver],
      [attention.expires('Kasir', at(expiresAt)), attention.otherKey],
    ]);
    expect(body).not.toContain('secret-path');
    for (const { href = '' } of rows) expect([href, (await owner.get(href)).status]).toEqual([href, 200]);
    const list = await owner.get(rows[1]?.href ?? '');
    expect(list.body.match(/<tr role="row"><td/g)).toHaveLength(3);
    expect(rows[4]?.href).toBe(`${shop.path}/developers/keys/${keyId}`);
    await screenshots('attention', dashboard.url + shop.path, `owner@${shop.path.slice(3).toLowerCase()}.test`);
  });

  it('the attention is only what the role may see, and names the roles that may do it', async () => {
    const rowsOf = async (role: MemberRole) =>
      rowsIn(partOf((await (await shop.as(role)).get(shop.path)).body, 'attention'));
    expect((await rowsOf('support')).map(({ hint }) => hint)).toEqual([
      undefined,
      onlyRoles,
      onlyRoles,
      attention.checkReceiver,
      onlyRoles,
    ]);
    for (const role of ['finance', 'cashier'] as const) {
      expect([role, (await rowsOf(role)).map(({ text }) => text)]).toEqual([role, [TEXTS.home.refundsFailed('1')]]);
    }
  });

  it('begins with why nothing can be done, which stands once on the page', async () => {
    const owner = await shop.as('owner');
    for (const [column, value, text] of [
      ['held_at', new Date(), TEXTS.merchantStates.on_hold],
      ['status', 'suspended', TEXTS.merchantStates.suspended],
    ] as const) {
      await service.db.query(`update merchants set ${column} = $2 where id = $1`, [shop.id, value]);
      const { body } = await owner.get(shop.path);
      const [first] = rowsIn(partOf(body, 'attention'));
      expect(first?.text).toBe(text);
      expect((await owner.get(first?.href ?? '')).status).toBe(200);
      expect(textOf(body).split(text)).toHaveLength(2);
      expect((await owner.get(`${shop.path}/payments`)).body).toContain(text);
      await screenshots(
        `attention-${column}`,
        dashboard.url + shop.path,
        `owner@${shop.path.slice(3).toLowerCase()}.test`,
      );
    }
    // Settings are not for this role.
    const [ofCashier] = rowsIn(partOf((await (await shop.as('cashier')).get(shop.path)).body, 'attention'));
    expect(ofCashier).toEqual({ text: TEXTS.merchantStates.suspended, hint: undefined, href: undefined });
    await service.db.query("update merchants set held_at = null, status = 'approved' where id = $1", [shop.id]);
  });

  it('the attention has one row for several objects, and counts no further than it reads', async () => {
    const { db } = service;
    await insertEndpoint(shop.id, 'https://second.test/', { consecutive_failures: 1, failing_since: inDays(-0.1) });
    await issueKey(db, { merchantId: shop.id, environment: 'sandbox', expiresAt: inDays(6) });
    await seedPayments(db, shop.id, { count: 120, from: inDays(-2).toISOString(), rareOneIn: 200, sameReference: 3 });
    await insertDeliveries(
      shop.id,
      endpointId,
      Array.from({ length: 120 }, () => ['dead', 1] as const),
    );
    const rows = rowsIn(partOf((await (await shop.as('owner')).get(shop.path)).body, 'attention'));
    const texts = rows.map(({ text }) => text).join(' ');
    expect(texts).toContain(attention.dead('100+'));
    expect(texts).toContain(`to ${attention.endpoints(2)} have failed since`);
    expect(texts).toContain('2 keys expire');
  });

  it('disappears when it is done', async () => {
    await service.db.query(
      `with delivery as (
         update webhook_deliveries set status = 'delivered', dead_reason = null where merchant_id = $1
       ), endpoint as (
         update webhook_endpoints set status = case when deleted_at is null then 'enabled' else status end,
           consecutive_failures = 0, failing_since = null where merchant_id = $1
       ), key as (
         update api_keys set expires_at = null where merchant_id = $1
       )
       update payments set status = 'refunded' where merchant_id = $1 and status = 'refund_failed'`,
      [shop.id],
    );
    expect(partOf((await (await shop.as('owner')).get(shop.path)).body, 'attention')).toBeNull();
  });
});

it('a cashier sees the payments that they took today, and not what the shop takes', async () => {
  const shop = await newShop('Toko Kasir', ['owner', 'cashier']);
  await seedPayments(service.db, shop.id, {
    count: 9,
    from: inDays(-0.01).toISOString(),
    rareOneIn: 9,
    sameReference: 3,
  });
  const { rows } = await service.db.query<{ reference: string }>(
    `with own as (select id, reference_id from payments where merchant_id = $1 order by created_at limit 1), act as (
       insert into user_actions (actor, via, user_id, merchant_id, action, target, address)
       select 'user:' || users.id, 'dashboard', users.id, $1, 'payment.create', own.id, '192.0.2.1'
       from users, own where email = $2
     )
     select reference_id as reference from own`,
    [shop.id, `cashier@${shop.path.slice(3).toLowerCase()}.test`],
  );
  const { body } = await (await shop.as('cashier')).get(shop.path);
  expect(partOf(body, 'figures')).toBeNull();
  expect(partOf(body, 'chart')).toBeNull();
  const own = partOf(body, 'newest') ?? '';
  expect(own).toContain(rows[0]?.reference);
  expect(own.match(/<tr role="row"><td/g)).toHaveLength(1);
  const ofOwner = (await (await shop.as('owner')).get(shop.path)).body;
  expect(partOf(ofOwner, 'figures')).not.toBeNull();
  expect(partOf(ofOwner, 'newest')?.match(/<tr role="row"><td/g)).toHaveLength(5);

  await fillTotals(service.db, shop.id);
  const list = `/payments?from=${dayInWib(inDays(-1))}`;
  const read = async (role: MemberRole, path: string) => (await shop.as(role)).get(shop.path + path);
  for (const [role, isShown] of [
    ['owner', true],
    ['cashier', false],
  ] as const) {
    const page = (await read(role, list)).body;
    expect([partOf(page, 'sum') !== null, page.includes('/payments.csv')]).toEqual([isShown, isShown]);
  }
  expect((await read('cashier', '/payments.csv')).status).toBe(403);
  await screenshots('cashier', dashboard.url + shop.path, `cashier@${shop.path.slice(3).toLowerCase()}.test`);
});

describe('the first steps of a new merchant', () => {
  const { steps } = HOME_TEXTS.en;
  const ALL = [steps.approved, steps.paid, steps.key, steps.webhook, steps.factor];
  let shop: Shop;

  beforeAll(async () => {
    shop = await newShop('Toko Pertama', ['owner', 'cashier', 'viewer']);
    await service.db.query("update merchants set status = 'pending' where id = $1", [shop.id]);
  });

  /** The steps with whether they are done. */
  async function read(role: MemberRole) {
    const browserOf = await shop.as(role);
    const part = partOf((await browserOf.get(shop.path)).body, 'checklist');
    if (part === null) return null;
    const rows = rowsIn(part);
    for (const href of rows.flatMap((row) => row.href ?? [])) {
      expect([role, href, (await browserOf.get(href)).status]).toEqual([role, href, 200]);
    }
    return rows.map(({ text, hint, href }) => ({ text: text.replace(/ \((done|open)\)$/, ''), hint, href }));
  }
  const openIn = (rows: Awaited<ReturnType<typeof read>>) =>
    rows?.flatMap(({ text, hint }) => (hint === undefined ? [] : [text]));
  const ownerEmail = () => `owner@${shop.path.slice(3).toLowerCase()}.test`;

  it('begin with the approval: each step names who acts, and has one link at most', async () => {
    const rows = await read('owner');
    expect(rows?.map(({ text, hint }) => [text, hint])).toEqual(
      ALL.map((step) => [step.title, step === steps.paid ? steps.paid.afterApproval : step.hint]),
    );
    expect(rows?.map(({ href }) => href?.replace(shop.path, ''))).toEqual([
      '/settings',
      undefined,
      '/developers/keys/new',
      '/developers/webhooks',
      '/profile/security',
    ]);
    // What the checklist begins with is no notice above it.
    expect((await (await shop.as('owner')).get(shop.path)).body).not.toContain(TEXTS.merchantStates.pending);
    await screenshots('pending', dashboard.url + shop.path, ownerEmail());
  });

  it('the first steps of a merchant are those of the role', async () => {
    await service.db.query("update merchants set status = 'approved' where id = $1", [shop.id]);
    const cashier = await read('cashier');
    expect(cashier?.map(({ text }) => text)).toEqual(
      [steps.approved, steps.paid, steps.factor].map(({ title }) => title),
    );
    expect(cashier?.[1]).toMatchObject({ hint: steps.paid.hint, href: `${shop.path}/payments/new` });
    const viewer = await read('viewer');
    expect(viewer?.[1]?.href).toBeUndefined();
    expect(viewer?.[1]?.hint).toContain(TEXTS.roles.cashier);
    await screenshots('checklist', dashboard.url + shop.path, ownerEmail());
  });

  it('the first steps of a merchant are ticked one after the other, and end with the last', async () => {
    const { db } = service;
    const titles = ALL.map(({ title }) => title);
    const progress = async () => /\d of \d done/.exec((await (await shop.as('owner')).get(shop.path)).body)?.[0];
    expect(await progress()).toBe('1 of 3 done');
    expect(openIn(await read('owner'))).toEqual(titles.slice(1));
    await seedPayments(db, shop.id, { count: 1, from: inDays(-0.1).toISOString(), rareOneIn: 9, sameReference: 3 });
    expect(openIn(await read('owner'))).toEqual(titles.slice(2));
    const expired = { merchantId: shop.id, environment: 'sandbox', expiresAt: inDays(-1) } as const;
    await issueKey(db, expired);
    expect(openIn(await read('owner'))).toEqual(titles.slice(2));
    // A shop without a server is complete without a key.
    await db.query("update users set sealed_totp = 'sealed', totp_hmac = 'hash' where email = $1", [ownerEmail()]);
    expect(await read('owner')).toBeNull();
    await db.query('update users set sealed_totp = null, totp_hmac = null where email = $1', [ownerEmail()]);
    await issueKey(db, { merchantId: shop.id, environment: 'sandbox' });
    expect(await progress()).toBe('3 of 5 done');
    expect(openIn(await read('owner'))).toEqual(titles.slice(3));
    await insertDeliveries(shop.id, await insertEndpoint(shop.id, 'https://shop.test/'), [['delivered', 0]]);
    expect(openIn(await read('owner'))).toEqual(titles.slice(4));
    await db.query("update users set sealed_totp = 'sealed', totp_hmac = 'hash' where email = $1", [ownerEmail()]);
    expect(await read('owner')).toBeNull();
    // A second factor belongs to one user.
    expect(openIn(await read('cashier'))).toEqual([steps.factor.title]);
  });

  it('end after thirty days if the merchant takes payments, and not if it takes none', async () => {
    await service.db.query("update merchants set created_at = now() - interval '31 days' where id = $1", [shop.id]);
    expect(await read('cashier')).toBeNull();
    await service.db.query("update payments set status = 'expired' where merchant_id = $1", [shop.id]);
    expect(openIn(await read('cashier'))).toEqual([steps.paid.title, steps.factor.title]);
  });
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
async function screenshots(name: string, url: string, email = 'owner@shop.test'): Promise<void> {
  const directory = process.env.SCREENSHOTS;
  if (directory === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [390, 1280]) {
      const { page, close } = await open(url, { colorScheme, viewport: { width, height: 900 } }, email);
      await page.screenshot({ path: `${directory}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      await close();
    }
}
