import { randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { createEndpoint, findEndpoint } from '../../../src/services/webhooks/webhook-endpoints';
import { DELIVERY_TEXTS } from '../../../src/web/dashboard/webhooks/delivery-texts';
import { WEBHOOK_TEXTS } from '../../../src/web/dashboard/webhooks/webhook-texts';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { startReceiver, verifySignature, type Receiver } from '../../support/receiver';
import { createSecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const TEXTS = WEBHOOK_TEXTS.en;

let service: TestService;
let dashboard: TestDashboard;
let receiver: Receiver;
let home: string;
let owner: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
  await service.db.query("update users set language = 'en' where email = $1", [DEMO_OWNER_EMAIL]);
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [
    service.merchantId,
  ]);
  home = `/m/${rows[0]?.code}/developers/webhooks`;
  owner = await dashboard.cookie(DEMO_OWNER_EMAIL);
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

async function send(path: string, form?: Readonly<Record<string, string>>) {
  const response = await fetch(dashboard.url + path, {
    method: form ? 'POST' : 'GET',
    headers: { cookie: owner, ...(form && { 'sec-fetch-site': 'same-origin' }) },
    redirect: 'manual',
    ...(form && { body: new URLSearchParams(form) }),
  });
  return { status: response.status, location: response.headers.get('location'), body: await response.text() };
}

const secretIn = (page: string) => /whsec_[A-Za-z0-9+/]{43}=/.exec(page)?.[0] ?? '';
const sendForm = (path: string, form: Readonly<Record<string, string>> = {}) =>
  send(path, { form_id: randomUUID(), ...form });

async function create(form: Readonly<Record<string, string>> = {}) {
  const id = randomUUID();
  const { status, body } = await send(`${home}/new`, { form_id: id, url: receiver.url, scope: 'all', ...form });
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

it('a change of the URL sends the next event there, and only the chosen events', async () => {
  const { id, path } = await create({ url: 'http://127.0.0.1:9/old', scope: 'listed', payment_paid: 'on' });
  const changed = await sendForm(`${path}/edit`, { url: receiver.url, scope: 'listed', payment_created: 'on' });
  expect([changed.status, changed.location]).toEqual([303, `${path}?done=saved`]);
  await service.call('POST', '/payments', { amount: 10_000 });
  await receiver.waitFor(1);
  expect(receiver.received[0]?.headers['x-service-event']).toBe('payment.created');
  expect(await findEndpoint(service.db, id)).toMatchObject({ url: receiver.url, events: ['payment.created'] });
});

it.each([
  ['ftp://x', {}, TEXTS.form.errors.not_absolute],
  ['http://10.0.0.1/', {}, TEXTS.form.errors.not_public],
  ['http://user:password@shop.example/', {}, TEXTS.form.errors.credentials],
  ['', {}, TEXTS.form.errors.url],
  ['http://127.0.0.1:9/', { scope: 'listed' }, TEXTS.form.errors.events],
])('the address %j is not accepted: %j', async (url, changes, message) => {
  const { id, status, body } = await create({ url, ...changes });
  expect([status, body.includes(message)]).toEqual([422, true]);
  await expect(findEndpoint(service.db, id)).rejects.toThrow('There is no endpoint');
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

it('the endpoint of another merchant is 404 on each page, and stays as it is', async () => {
  const second = await createSecondMerchant(service.db);
  const endpoint = { merchantId: second.id, url: receiver.url, events: [], environment: 'sandbox' } as const;
  const { id } = await createEndpoint(service.db, createSealer(service.masterKey), endpoint);
  for (const page of ['', '/edit', '/rotate', '/ping', '/disable', '/enable', '/delete']) {
    expect([page, (await send(`${home}/${id}${page}`)).status]).toEqual([page, 404]);
    const form = { url: receiver.url, scope: 'all', overlap: '0' };
    if (page === '') continue;
    expect([page, (await sendForm(`${home}/${id}${page}`, form)).status]).toEqual([page, 404]);
  }
  expect(await findEndpoint(service.db, id)).toMatchObject({ status: 'enabled' });
  expect(receiver.received).toEqual([]);
});
