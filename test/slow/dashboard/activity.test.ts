import { randomBytes, randomUUID } from 'node:crypto';
import { UserError } from '../../../src/errors';
import { withAudit } from '../../../src/services/audit/audit';
import { insertOperator } from '../../../src/services/identity/operators';
import { resetUser } from '../../../src/services/identity/reset-user';
import { holdMerchant } from '../../../src/services/merchants/hold-merchant';
import { createKey } from '../../../src/services/merchants/keys/create-key';
import { showBankAccount } from '../../../src/services/payouts/show-bank-account';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { ACTIVITY_TEXTS } from '../../../src/web/dashboard/activity/activity-texts';
import { operatorOf } from '../../support/actors';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { HttpBrowser } from '../../support/http-browser';
import { issueKey } from '../../support/keys';
import { createMember, createShop } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const { en, id: indonesian } = ACTIVITY_TEXTS;

let service: TestService;
let dashboard: TestDashboard;
let owner: HttpBrowser;
let home: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [
    service.merchantId,
  ]);
  home = `/m/${rows[0]?.code}`;
  owner = await signedIn(DEMO_OWNER_EMAIL);
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});

async function signedIn(email: string): Promise<HttpBrowser> {
  const browser = new HttpBrowser(dashboard.url);
  const [name = '', value = ''] = (await dashboard.cookie(email)).split('=');
  browser.cookies.set(name, value);
  return browser;
}

/** The cells of each row of a page, as text. */
function rowsOf(body: string): string[][] {
  // Each day has a table of its own.
  const table = Array.from(body.matchAll(/<tbody[^>]*>(.*?)<\/tbody>/gs), ([, rows]) => rows).join('');
  const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '').replaceAll('&#x27;', "'");
  return Array.from(table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs), ([, row = '']) =>
    Array.from(row.matchAll(/<td[^>]*>(.*?)<\/td>/gs), ([, cell = '']) => textOf(cell)),
  );
}

async function readRows(language: 'id' | 'en', query = ''): Promise<string[][]> {
  await service.db.query('update users set language = $1 where email = $2', [language, DEMO_OWNER_EMAIL]);
  const { status, body } = await owner.get(`${home}/activity${query}`);
  expect([query, status]).toEqual([query, 200]);
  return rowsOf(body);
}

const [keyId, endpointId, linkFormId] = [randomUUID(), randomUUID(), randomUUID()];
const key = `/developers/keys/${keyId}`;
const endpoint = `/developers/webhooks/${endpointId}`;
const url = 'http://127.0.0.1:9/webhooks';
const sent = (fields: Readonly<Record<string, string>>) => ({ form_id: randomUUID(), ...fields });

/** Each in the order of what it needs. */
const POSTS = [
  ['merchant.set', '/settings/edit', { zone: 'Asia/Jakarta' }],
  ['merchant.set_accent', '/settings/checkout', { accent: '#ff6600' }],
  ['merchant.remove_logo', '/settings/checkout/logo/remove', {}],
  ['member.invite', '/team/invite', { email: 'sri@toko.test', role: 'viewer' }],
  ['payment.create', '/payments/new', sent({ amount: '50000' })],
  ['payment_link.create', '/links/new', { form_id: linkFormId, title: 'Kopi', kind: 'once', amount: '50000' }],
  ['key.create', '/developers/keys/new', { form_id: keyId, name: 'Toko', scope_read: 'on', expiry: 'none' }],
  ['key.update', `${key}/edit`, { name: 'Kasir', scope_read: 'on', expiry: 'none' }],
  ['key.rotate', `${key}/rotate`, sent({ overlap: '1' })],
  ['webhook.create', '/developers/webhooks/new', { form_id: endpointId, url, scope: 'all' }],
  ['webhook.set', `${endpoint}/edit`, sent({ url: `${url}/2`, scope: 'all' })],
  ['webhook.rotate_secret', `${endpoint}/rotate`, sent({ overlap: '1' })],
  ['webhook.disable', `${endpoint}/disable`, sent({})],
  ['webhook.enable', `${endpoint}/enable`, sent({})],
  ['webhook.delete', `${endpoint}/delete`, sent({})],
  ['key.revoke', `${key}/revoke`, sent({})],
] as const;

it.each(POSTS)('%s is one row, in words of both languages', async (action, path, form) => {
  const before = await readRows('en');
  const response = await owner.post(home + path, Object.entries(form));
  expect([action, [200, 303].includes(response.status)]).toEqual([action, true]);
  const english = await readRows('en');
  expect(english).toHaveLength(before.length + 1);
  expect(english[0]?.slice(1, 3)).toEqual(['Demo owner', en.actions[action]]);
  expect(english[0]?.slice(-2)).toEqual([en.outcomes.succeeded, '127.0.0.1']);
  const [newest] = await readRows('id');
  expect(newest?.[2]).toBe(indonesian.actions[action]);
  expect(newest?.[4]).toBe(indonesian.outcomes.succeeded);
});

it('every link of the list leads to a page', async () => {
  const { body } = await owner.get(`${home}/activity`);
  const table = /<tbody.*<\/tbody>/s.exec(body)?.[0] ?? '';
  const links = new Set(Array.from(table.matchAll(/<a[^>]* href="([^"]+)"/g), ([, href = '']) => href));
  expect(links.size).toBeGreaterThan(3);
  for (const link of links) expect([link, (await owner.get(link)).status]).toEqual([link, 200]);
});

/** A merchant with this number of actions, the oldest first, each a second after the one before. */
async function newShop(name: string, count: number) {
  const shop = await createShop(service.db, name);
  const email = `${name}@shop.test`;
  const [ownerId, otherId] = [
    await createMember(service.db, email, [[shop.id, 'owner']]),
    await createMember(service.db, `other-${email}`, [[shop.id, 'cashier']]),
  ];
  await service.db.query(
    `insert into user_actions (actor, via, user_id, merchant_id, action, target, requested_at, address)
     select 'user:' || person, 'dashboard', person, $1, case when n % 3 = 0 then 'key.revoke' else 'notice.close' end,
       n, '2026-11-01T16:59:00Z'::timestamptz + n * interval '1 s', '192.0.2.1'
     from generate_series(1, $4::integer) n,
       lateral (select case when n % 2 = 0 then $2::uuid else $3 end as person) who`,
    [shop.id, ownerId, otherId, count],
  );
  return { id: shop.id, path: `/m/${shop.code}/activity`, ownerId, otherId, browser: await signedIn(email) };
}

it('goes through all actions in both directions, each once, and shows none of another merchant', async () => {
  const { path, browser } = await newShop('pages', 120);
  await newShop('stranger', 10);
  const follow = async (first: string, direction: 'older' | 'newer') => {
    const times: string[] = [];
    for (let address = first, pages = 0; pages < 5; pages += 1) {
      const { body } = await browser.get(address);
      times.push(...Array.from(body.matchAll(/<time dateTime="([^"]+)"/gi), ([, time = '']) => time));
      const next = new RegExp(`href="([^"]*${direction}=[^"]*)"`).exec(body)?.[1]?.replaceAll('&amp;', '&');
      if (next === undefined) return { times, last: address };
      address = next;
    }
    throw new Error('The list does not end');
  };
  const older = await follow(path, 'older');
  expect([older.times.length, new Set(older.times).size]).toEqual([120, 120]);
  expect(older.times).toEqual(older.times.toSorted().toReversed());
  expect((await follow(older.last, 'newer')).times).toHaveLength(120);
});

it('filters by person, action and days of the zone, and names what is not possible', async () => {
  const { path, browser, otherId } = await newShop('filters', 120);
  const count = async (query: string) => rowsOf((await browser.get(`${path}?${query}`)).body).length;
  expect(await count(`person=${otherId}&action=key.revoke`)).toBe(20);
  // Midnight in Jakarta is after the first minute.
  expect(await count('action=key.revoke&to=2026-11-01')).toBe(19);
  expect(await count('action=key.revoke&from=2026-11-02&to=2026-11-02')).toBe(21);
  const days = Array.from(
    (await browser.get(`${path}?action=key.revoke`)).body.matchAll(/<h2>([^<]*)</g),
    ([, day]) => day,
  );
  expect(days).toEqual(['Monday, 2 Nov 2026', 'Sunday, 1 Nov 2026']);
  expect((await browser.get(`${path}?from=2026-12-01`)).body).toContain(en.noMatch);
  for (const [query, error] of [
    ['person=x', en.errors.person],
    ['action=constructor', en.errors.action],
    ['action=session.sign_in', en.errors.action],
    ['from=2026-11-02&to=2026-11-01', en.errors.order],
    ['older=x', en.errors.cursor],
  ] as const) {
    const { status, body } = await browser.get(`${path}?${query}`);
    expect([query, status, body.includes(error)]).toEqual([query, 422, true]);
  }
});

it('exports the filtered list, and the export is recorded', async () => {
  const { path, browser, otherId } = await newShop('export', 60);
  const { status, body } = await browser.get(`${path}.csv?person=${otherId}&action=key.revoke&delimiter=,`);
  const [header, ...lines] = body.trimEnd().split('\r\n');
  expect([status, header]).toEqual([200, 'id,time,user_id,user_name,action,target,outcome,address']);
  expect(lines).toHaveLength(10);
  expect(lines[0]).toMatch(/,2026-11-01T23:59:57\+07:00,[\da-f-]{36},Sri Rahayu,key.revoke,57,,192.0.2.1$/);
  const [newest] = rowsOf((await browser.get(path)).body);
  expect(newest?.slice(1, 3)).toEqual(['Sri Rahayu', en.actions['activity.export']]);
});

describe('what operators did', () => {
  const SECRETS = ['Dewi Operator', 'suspected of fraud'];

  /** The actions of an operator on the merchant, the oldest first. */
  async function operate({ id: merchantId, ownerId }: Awaited<ReturnType<typeof newShop>>): Promise<void> {
    const { db } = service;
    const [name = '', note = ''] = SECRETS;
    const actor = operatorOf(await insertOperator(db, { name: `${name} ${merchantId}`, environment: 'sandbox' }));
    const audited = <Result>(action: typeof createKey, target: string, work: () => Promise<Result>) =>
      withAudit({ db }, actor, { action, target, note }, work);
    const hold = { path: { merchant: merchantId }, input: {}, formId: randomUUID(), note };
    await holdMerchant.run({ db }, actor, hold);
    const id = randomUUID();
    await audited(createKey, id, () => issueKey(db, { id, merchantId, environment: 'sandbox' }));
    const input = { linkId: randomUUID(), tokenSha256: randomBytes(32).toString('hex') };
    await resetUser.run({ db }, actor, { path: { user: ownerId }, input, formId: randomUUID(), note });
    await expect(audited(createKey, merchantId, () => Promise.reject(new UserError('no')))).rejects.toThrow('no');
    await withAudit({ db }, actor, { action: showBankAccount, target: merchantId }, () => Promise.resolve());
  }

  it('stands among the actions of members as Lunas, without name, note, rejected actions and readings', async () => {
    const shop = await newShop('operated', 2);
    await operate(shop);
    await operate(await newShop('neighbour', 0));
    const done = [en.actions['user.reset'], en.actions['key.create'], en.actions['merchant.hold']];
    const { body } = await shop.browser.get(shop.path);
    const rows = rowsOf(body);
    expect(rows.slice(0, 3).map((row) => row.slice(1, 3))).toEqual(done.map((text) => [en.lunas, text]));
    expect(rows[0]?.slice(-2)).toEqual([en.outcomes.succeeded, '–']);
    expect(rows).toHaveLength(5);
    for (const [query, expected] of [
      ['person=lunas', done],
      ['action=merchant.hold', done.slice(2)],
      [`person=${shop.ownerId}`, [en.actions['notice.close']]],
    ] as const) {
      const found = rowsOf((await shop.browser.get(`${shop.path}?${query}`)).body);
      expect([query, found.map((row) => row[2])]).toEqual([query, expected]);
    }
    const csv = await shop.browser.get(`${shop.path}.csv?person=lunas&delimiter=,`);
    expect(csv.body.trimEnd().split('\r\n').slice(1)).toEqual([
      expect.stringMatching(/^\d+,[^,]+,,Lunas,user.reset,[\da-f-]{36},succeeded,$/),
      expect.stringMatching(/^\d+,[^,]+,,Lunas,key.create,[\da-f-]{36},succeeded,$/),
      expect.stringMatching(/^\d+,[^,]+,,Lunas,merchant.hold,[\da-f-]{36},succeeded,$/),
    ]);
    for (const secret of SECRETS) expect([body.includes(secret), csv.body.includes(secret)]).toEqual([false, false]);
    await service.db.query("update users set language = 'id' where id = $1", [shop.ownerId]);
    const translated = rowsOf((await shop.browser.get(shop.path)).body);
    // The export is the newest one.
    expect(translated[3]?.slice(1, 3)).toEqual([indonesian.lunas, indonesian.actions['merchant.hold']]);
  });

  it('the activity has each action of operators once over the pages, between those of members', async () => {
    const shop = await newShop('mixed', 60);
    await operate(shop);
    await service.db.query(
      `insert into user_actions (actor, via, user_id, merchant_id, action, target, address)
       select 'user:' || $2::uuid, 'dashboard', $2, $1, 'notice.close', n, '192.0.2.1' from generate_series(1, 39) n`,
      [shop.id, shop.ownerId],
    );
    const first = (await shop.browser.get(shop.path)).body;
    const older = /href="([^"]*older=[^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const lunasOn = (body: string) => rowsOf(body).filter((row) => row[1] === en.lunas).length;
    expect([lunasOn(first), lunasOn((await shop.browser.get(older)).body)]).toEqual([1, 2]);
  });
});

it('a cashier has neither the page nor its menu item', async () => {
  await newShop('roles', 1);
  const cashier = await signedIn('other-roles@shop.test');
  const { rows } = await service.db.query<{ code: string }>("select code from merchants where name = 'roles'");
  const path = `/m/${rows[0]?.code}/activity`;
  expect([(await cashier.get(path)).status, (await cashier.get(`${path}.csv`)).status]).toEqual([403, 403]);
  expect((await cashier.get(`/m/${rows[0]?.code}`)).body).not.toContain(`href="${path}"`);
});
