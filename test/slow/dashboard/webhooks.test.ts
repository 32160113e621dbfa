import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { findEndpoint } from '../../../src/services/webhooks/webhook-endpoints';
import { NOTICE_TEXTS } from '../../../src/web/dashboard/notices/notice-texts';
import { DELIVERY_TEXTS } from '../../../src/web/dashboard/webhooks/delivery-texts';
import { WEBHOOK_TEXTS } from '../../../src/web/dashboard/webhooks/webhook-texts';
import { openPage, startBrowser } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { createMember } from '../../support/people';
import { startReceiver, verifySignature, type Receiver } from '../../support/receiver';
import { createSecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

const TEXTS = WEBHOOK_TEXTS.en;

let service: TestService;
let dashboard: TestDashboard;
let receiver: Receiver;
let home: string;
/** A user may send 60 forms a minute, and this file sends more. */
const OTHER_OWNER_EMAIL = 'owner@webhooks.test';
let owner: string;
let otherOwner: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
  await createMember(service.db, OTHER_OWNER_EMAIL, [[service.merchantId, 'owner']]);
  const emails = [DEMO_OWNER_EMAIL, OTHER_OWNER_EMAIL];
  await service.db.query("update users set language = 'en' where email = any($1)", [emails]);
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [
    service.merchantId,
  ]);
  home = `/m/${rows[0]?.code}/developers/webhooks`;
  owner = await dashboard.cookie(DEMO_OWNER_EMAIL);
  otherOwner = await dashboard.cookie(OTHER_OWNER_EMAIL);
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

async function send(path: string, form?: Readonly<Record<string, string>>, cookie = owner) {
  const response = await fetch(dashboard.url + path, {
    method: form ? 'POST' : 'GET',
    headers: { cookie, ...(form && { 'sec-fetch-site': 'same-origin' }) },
    redirect: 'manual',
    ...(form && { body: new URLSearchParams(form) }),
  });
  return { status: response.status, location: response.headers.get('location'), body: await response.text() };
}

const secretIn = (page: string) => /whsec_[A-Za-z0-9+/]{43}=/.exec(page)?.[0] ?? '';
const sendForm = (path: string, form: Readonly<Record<string, string>> = {}, cookie = owner) =>
  send(path, { form_id: randomUUID(), ...form }, cookie);

async function create(form: Readonly<Record<string, string>> = {}, cookie = owner) {
  const id = randomUUID();
  const { status, body } = await send(`${home}/new`, { form_id: id, url: receiver.url, scope: 'all', ...form }, cookie);
  return { id, path: `${home}/${id}`, status, body, secret: secretIn(body) };
}

it('an endpoint is created, and pinged with its secret, which is shown once', async () => {
  const { id, path, secret, body } = await create();
  expect(body).toContain(TEXTS.secret.once);
  const again = await send(`${home}/new`, { form_id: id, url: receiver.url, scope: 'all' });
  expect([again.status, secretIn(again.body), again.body.includes(TEXTS.secret.exists)]).toEqual([200, '', true]);
  receiver.respond = (response) => response.writeHead(418).end('<script>alert(1)</script>');
  const failed = await sendForm(`${path}/ping`);
  expect([failed.status, failed.body.includes(TEXTS.ping.failed)]).toEqual([200, true]);
  expect(failed.body).toContain('&lt;script&gt;alert(1)');
  receiver.respond = (response) => response.writeHead(204).end();
  expect((await sendForm(`${path}/ping`)).body).toContain(TEXTS.ping.delivered);
  expect(receiver.received.map((webhook) => verifySignature(webhook, secret))).toEqual([true, true]);
  expect(body).not.toContain(TEXTS.secret.duplicate);
  const second = await create();
  expect(second.body).toContain(TEXTS.secret.duplicate);
  expect(second.body).toContain(`href="${path}"`);
});

it('a ping of an endpoint that does not respond has a sentence before the page is late', async () => {
  const { path } = await create();
  receiver.respond = () => undefined;
  const slow = await sendForm(`${path}/ping`);
  expect([slow.status, slow.body.includes(TEXTS.rejections.slowPing)]).toEqual([200, true]);
});

it('a rotation with an overlap signs with both secrets, and its repeat makes none', async () => {
  const { path, secret } = await create();
  const form = { form_id: randomUUID(), overlap: '1' };
  const rotated = secretIn((await send(`${path}/rotate`, form)).body);
  const again = await send(`${path}/rotate`, form);
  expect([secretIn(again.body), again.body.includes(TEXTS.secret.exists)]).toEqual(['', true]);
  await sendForm(`${path}/ping`);
  const [received] = receiver.received;
  expect([secret, rotated].map((one) => received && verifySignature(received, one))).toEqual([true, true]);
});

it('a rotation without an overlap signs with the new secret alone, and the page shows it', async () => {
  const { path, secret } = await create();
  const { body } = await send(`${path}/rotate`, { form_id: randomUUID(), overlap: '0' });
  expect([body.includes(TEXTS.secret.oldEnded), body.includes(TEXTS.secret.oldEnds)]).toEqual([true, false]);
  await sendForm(`${path}/ping`);
  const [received] = receiver.received;
  expect([secret, secretIn(body)].map((one) => received && verifySignature(received, one))).toEqual([false, true]);
});

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#x27': "'", amp: '&' };
const unescaped = (html: string) =>
  html.replaceAll(/&(lt|gt|quot|#x27|amp);/g, (_, name: string) => ENTITIES[name] ?? '');

it('the example beside a new secret accepts a webhook as it is received, and nothing else', async () => {
  const { path, secret, body } = await create();
  await sendForm(`${path}/ping`);
  const [received] = receiver.received;
  const shown = new RegExp(`aria-label="${TEXTS.secret.verify}"><code>([^]*?)</code>`).exec(body)?.[1] ?? '';
  const isAuthentic = (rawBody: string, key: string) => {
    const values = [rawBody, received?.headers['x-service-signature'], key].map((value) => JSON.stringify(value));
    const script = `${unescaped(shown)}\nconsole.log(isAuthentic(${values.join(', ')}));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    return stdout.trim() || stderr;
  };
  const rawBody = received?.rawBody ?? '';
  expect([isAuthentic(rawBody, secret), isAuthentic(`${rawBody} `, secret), isAuthentic(rawBody, 'whsec_x')]).toEqual([
    'true',
    'false',
    'false',
  ]);
});

it('a change of the URL sends the next event there, and only the chosen events', async () => {
  const { id, path } = await create({ url: 'http://127.0.0.1:9/old', scope: 'listed', payment_paid: 'on' });
  const chosen = { payment_created: 'on', payout_completed: 'on', invoice_issued: 'on' };
  const changed = await sendForm(`${path}/edit`, { url: receiver.url, scope: 'listed', ...chosen });
  expect([changed.status, changed.location]).toEqual([303, `${path}?done=saved`]);
  await service.call('POST', '/payments', { amount: 10_000 });
  await receiver.waitFor(1);
  expect(receiver.received[0]?.headers['x-service-event']).toBe('payment.created');
  const events = ['payment.created', 'payout.completed', 'invoice.issued'];
  expect(await findEndpoint(service.db, 'all', id)).toMatchObject({ url: receiver.url, events });
  expect((await send(`${path}/edit`)).body).toMatch(/name="payout_completed" checked="" value="on"/);
});

it.each([
  ['ftp://x', {}, TEXTS.form.errors.not_absolute],
  ['http://10.0.0.1/', {}, TEXTS.form.errors.not_public],
  ['http://user:password@shop.example/', {}, TEXTS.form.errors.credentials],
  ['http:127.0.0.1:9/', {}, TEXTS.form.errors.not_absolute],
  ['http://127.0.0.1:9/\0', {}, TEXTS.form.errors.characters],
  ['', {}, TEXTS.form.errors.url],
  ['http://127.0.0.1:9/', { scope: 'listed' }, TEXTS.form.errors.events],
])('the address %j is not accepted: %j', async (url, changes, message) => {
  const { id, status, body } = await create({ url, ...changes }, otherOwner);
  expect([status, body.includes(message)]).toEqual([422, true]);
  await expect(findEndpoint(service.db, 'all', id)).rejects.toThrow('There is no endpoint');
});

it('an endpoint is disabled, enabled and deleted, each once', async () => {
  const { id, path } = await create();
  expect((await sendForm(`${path}/disable`)).location).toBe(`${path}?done=disabled`);
  const again = await sendForm(`${path}/disable`);
  expect([again.status, again.body.includes(TEXTS.rejections.disabled)]).toEqual([409, true]);
  expect((await send(path)).body).toContain(TEXTS.disabledBy.merchant);
  expect((await sendForm(`${path}/enable`)).location).toBe(`${path}?done=enabled`);
  expect((await sendForm(`${path}/delete`)).location).toBe(`${home}?done=deleted`);
  expect((await send(path)).status).toBe(404);
  expect((await send(home)).body).not.toContain(id);
  const { rows } = await service.db.query<{ action: string }>(
    'select action from user_actions where target = $1 order by id',
    [id],
  );
  expect(rows.map(({ action }) => action)).toEqual([
    'webhook.create',
    'webhook.disable',
    'webhook.enable',
    'webhook.delete',
  ]);
});

it('owners get a notice of a new endpoint, URL and secret, and the audit has no more than hosts', async () => {
  const { id, path } = await create({ url: 'http://127.0.0.1:9/hook-token?key=hidden-one' });
  const notices = async () => {
    const { rows } = await service.db.query(
      'select kind from merchant_notices, generate_series(1, count) where target_id = $1',
      [id],
    );
    return rows.map(({ kind }) => kind);
  };
  expect(await notices()).toEqual(['security.webhook_changed']);
  const url = 'http://127.0.0.1:10/other-token?key=hidden-two';
  await sendForm(`${path}/edit`, { url, scope: 'all' });
  expect(await notices()).toHaveLength(2);
  await sendForm(`${path}/edit`, { url, scope: 'listed', payment_paid: 'on' });
  expect(await notices()).toHaveLength(2);
  const rotation = { form_id: randomUUID(), overlap: '1' };
  await send(`${path}/rotate`, rotation);
  await send(`${path}/rotate`, rotation);
  expect(await notices()).toHaveLength(3);
  const text = NOTICE_TEXTS.en.kinds['security.webhook_changed']('http://127.0.0.1:10');
  expect((await send(home.replace('/developers/webhooks', ''))).body).toContain(text);
  const { rows } = await service.db.query<{ detail: string }>(
    'select detail from user_actions where target = $1 order by id',
    [id],
  );
  const [created, moved] = rows.map(({ detail }) => JSON.parse(detail));
  expect(created).toEqual({ events: [], expand: [], url: 'http://127.0.0.1:9' });
  expect(moved).toEqual({
    events: [],
    expand_before: [],
    expand: [],
    url_before: 'http://127.0.0.1:9',
    url: 'http://127.0.0.1:10',
  });
  expect(JSON.stringify(rows)).not.toMatch(/token|hidden/);
});

it('an owner makes an endpoint send customer data, of which owners get a notice; a developer cannot', async () => {
  const { id, path } = await create({ expand_metadata: 'on', expand_customer: 'on' });
  expect((await findEndpoint(service.db, 'all', id)).expand).toEqual(['metadata', 'customer']);
  expect((await send(path)).body).toContain('metadata, customer');
  const own = await create({ expand_metadata: 'on' });
  await createMember(service.db, 'developer@webhooks.test', [[service.merchantId, 'developer']]);
  await service.db.query("update users set language = 'en' where email = 'developer@webhooks.test'");
  const developer = await dashboard.cookie('developer@webhooks.test');
  const edit = (of: string, form: Readonly<Record<string, string>>, cookie: string) =>
    send(`${of}/edit`, { form_id: randomUUID(), url: 'http://127.0.0.1:9/other', scope: 'all', ...form }, cookie);
  expect((await edit(path, {}, developer)).status).toBe(409);
  expect((await findEndpoint(service.db, 'all', id)).url).toBe(receiver.url);
  const foreign = await edit(own.path, { expand_customer: 'on' }, developer);
  expect([foreign.status, foreign.body.includes(TEXTS.form.errors.foreign_members)]).toEqual([422, true]);
  expect((await edit(own.path, { expand_settlement: 'on' }, developer)).status).toBe(303);
  expect((await findEndpoint(service.db, 'all', own.id)).expand).toEqual(['settlement']);
  const notices = async () =>
    (await service.db.query('select from merchant_notices, generate_series(1, count) where target_id = $1', [own.id]))
      .rowCount;
  const before = await notices();
  expect((await edit(own.path, { expand_customer: 'on' }, owner)).status).toBe(303);
  expect(await notices()).toBe((before ?? 0) + 1);
});

it('a dead delivery is shown with the response, and redelivered alone and by a range', async () => {
  const { id, path } = await create({ scope: 'listed', payment_created: 'on' });
  receiver.respond = (response) => response.writeHead(410).end('<img src=x onerror=alert(1)>');
  const { body: created } = await service.call('POST', '/payments', { amount: 10_000 });
  const dead = await eventually(
    async () =>
      (await service.db.query('select id, status from webhook_deliveries where endpoint_id = $1', [id])).rows[0],
    (row) => row?.status === 'dead',
  );
  const deliveries = home.replace('/webhooks', '/deliveries');
  const page = await send(`${deliveries}/${dead.id}`);
  expect(page.body).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(page.body).toContain(DELIVERY_TEXTS.en.deadReasons.endpoint_gone);
  expect(page.body).toContain(created.payment.reference_id);
  const disabled = await sendForm(`${deliveries}/${dead.id}/redeliver`);
  const reason = DELIVERY_TEXTS.en.rejections.endpoint_disabled;
  expect([disabled.status, page.body.includes(reason), disabled.body.includes(reason)]).toEqual([409, true, true]);
  receiver.respond = (response) => response.writeHead(200).end();
  await sendForm(`${path}/enable`);
  expect((await send(`${deliveries}?status=dead&endpoint=${id}`)).body).toContain(dead.id);
  const days = { from: '2020-01-01', to: '2099-01-01' };
  const ranged = await sendForm(`${deliveries}/redeliver`, days);
  expect([ranged.status, /redelivered=(\d+)/.exec(ranged.location ?? '')?.[1]]).toEqual([303, '1']);
  await receiver.waitFor(2);
  const isDelivered = async () => (await send(`${deliveries}?status=delivered&endpoint=${id}`)).body.includes(dead.id);
  await eventually(isDelivered, (found) => found);
  const alone = await sendForm(`${deliveries}/${dead.id}/redeliver`);
  expect(alone.location).toBe(`${deliveries}/${dead.id}?done=redelivered`);
  await receiver.waitFor(3);
  const sentIds = receiver.received.map(({ headers }) => headers['x-service-delivery']);
  expect(new Set(sentIds)).toEqual(new Set([dead.id]));
});

/** What the server of a stranger may send. */
const CORPUS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '</code></pre><svg onload=alert(1)>',
  '<a href="javascript:alert(1)">here</a>',
  '\u202Eevil',
  '🙂𠮷',
  'zero\0byte',
  'W'.repeat(10_000),
];

describe('responses of strangers', () => {
  let browser: Awaited<ReturnType<typeof startBrowser>>;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it.each(CORPUS.map((text) => [text.slice(0, 40), text]))(
    '%s is text on the page of its delivery',
    async (_, text) => {
      const { id } = await create({ scope: 'listed', payment_created: 'on' });
      receiver.respond = (response) => response.writeHead(410, { 'x-evil': '<script>alert(2)</script>' }).end(text);
      await service.call('POST', '/payments', { amount: 10_000 });
      const dead = await eventually(
        async () =>
          (await service.db.query('select id, status from webhook_deliveries where endpoint_id = $1', [id])).rows[0],
        (row) => row?.status === 'dead',
      );
      const path = `${home.replace('/webhooks', '/deliveries')}/${dead.id}`;
      const { page, problems, close } = await openPage(browser, `${dashboard.url}/login`, {
        viewport: { width: 320, height: 640 },
      });
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await dashboard.signIn(page.context(), DEMO_OWNER_EMAIL);
      await page.goto(dashboard.url + path, { waitUntil: 'load' });
      const start = text.slice(0, 100).replace('\0', '');
      expect(await page.locator('.attempts pre').innerText()).toContain(start);
      expect(await page.locator('.attempts script, .attempts img, .attempts svg, .attempts a').count()).toBe(0);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      expect([problems, dialogs]).toEqual([[], []]);
      await close();
    },
  );
});

it('the delivery of another merchant is 404, and is not sent again', async () => {
  const second = await createSecondMerchant(service.db);
  const { rows } = await service.db.query<{ id: string }>(
    `with endpoint as (
       insert into webhook_endpoints (id, merchant_id, url) values (gen_random_uuid(), $1, $2) returning id
     ), event as (
       select payment_id, payment_version, event from webhook_events limit 1
     )
     insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status,
       dead_reason, finished_at)
     select gen_random_uuid(), payment_id, payment_version, endpoint.id, $1, event, 'dead', 'attempts_exhausted', now()
     from endpoint, event returning id`,
    [second.id, receiver.url],
  );
  const path = `${home.replace('/webhooks', '/deliveries')}/${rows[0]?.id}`;
  expect([(await send(path)).status, (await sendForm(`${path}/redeliver`)).status]).toEqual([404, 404]);
  const days = { from: '2020-01-01', to: '2099-01-01' };
  await sendForm(`${home.replace('/webhooks', '/deliveries')}/redeliver`, days);
  const { rows: after } = await service.db.query('select status from webhook_deliveries where id = $1', [rows[0]?.id]);
  expect(after).toEqual([{ status: 'dead' }]);
});

it('deliveries of an endpoint that fails show since when', async () => {
  const { id, path } = await create({ scope: 'listed', payment_created: 'on' });
  receiver.respond = (response) => response.writeHead(500).end('down');
  const { body: created } = await service.call('POST', '/payments', { amount: 10_000 });
  const deliveries = home.replace('/webhooks', '/deliveries');
  await receiver.waitFor(1);
  const list = await eventually(
    () => send(`${deliveries}?endpoint=${id}`),
    ({ body }) => body.includes(DELIVERY_TEXTS.en.endpointFails),
  );
  const { failingSince } = await findEndpoint(service.db, 'all', id);
  const reference = String(created.payment.reference_id);
  for (const { body } of [list, await send(path)]) {
    expect(body).toContain(`dateTime="${failingSince?.toISOString()}"`);
    expect(body).toContain(reference);
  }
  const { rows } = await service.db.query<{ id: string }>('select id from webhook_deliveries where endpoint_id = $1', [
    id,
  ]);
  const detail = await send(`${deliveries}/${rows[0]?.id}`);
  expect(detail.body).toContain(DELIVERY_TEXTS.en.endpointFails);
  await sendForm(`${path}/disable`);
});

it('the pages of a filter have no delivery missing or twice, forwards and back', async () => {
  const { id } = await create({ url: 'http://127.0.0.1:9/', scope: 'listed', payment_failed: 'on' });
  await service.db.query(
    `insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status,
       dead_reason, finished_at, created_at)
     select gen_random_uuid(), payment_id, payment_version, $1, $2, event, 'dead', 'attempts_exhausted', now(),
       '2026-01-01T00:00:00Z'
     from webhook_events order by occurred_at limit 45`,
    [id, service.merchantId],
  );
  const { rows: expected } = await service.db.query<{ id: string }>(
    'select id from webhook_deliveries where endpoint_id = $1 order by created_at desc, id desc',
    [id],
  );
  const idsIn = (body: string) => [...body.matchAll(/deliveries\/([0-9a-f-]{36})"/g)].map(([, found]) => found);
  const linkIn = (body: string, label: string) =>
    unescaped(new RegExp(`href="([^"]*)">[‹ ]*(?:<!-- -->)?${label}`).exec(body)?.[1] ?? '');
  const { older, newer } = DELIVERY_TEXTS.en.pager;
  const seen: string[][] = [];
  let page = await send(`${home.replace('/webhooks', '/deliveries')}?endpoint=${id}`);
  const collect = () => seen.push(idsIn(page.body).map(String));
  for (collect(); linkIn(page.body, older) !== ''; collect()) page = await send(linkIn(page.body, older));
  expect(seen.flat()).toEqual(expected.map((row) => row.id));
  expect(seen.length).toBeGreaterThan(1);
  page = await send(linkIn(page.body, newer));
  expect(idsIn(page.body)).toEqual(seen.at(-2));
});

it('the endpoint of another merchant is 404 on each page, and stays as it is', async () => {
  const second = await createSecondMerchant(service.db);
  const endpoint = { merchantId: second.id, url: receiver.url, events: [] } as const;
  const { id } = await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
  for (const page of ['', '/edit', '/rotate', '/ping', '/disable', '/enable', '/delete']) {
    expect([page, (await send(`${home}/${id}${page}`)).status]).toEqual([page, 404]);
    const form = { url: receiver.url, scope: 'all', overlap: '0' };
    if (page === '') continue;
    expect([page, (await sendForm(`${home}/${id}${page}`, form, otherOwner)).status]).toEqual([page, 404]);
  }
  expect(await findEndpoint(service.db, 'all', id)).toMatchObject({ status: 'enabled' });
  expect(receiver.received).toEqual([]);
});
