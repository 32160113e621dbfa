import { randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import { DELIVERY_TEXTS } from '../../../src/web/dashboard/webhooks/delivery-texts';
import { WEBHOOK_TEXTS } from '../../../src/web/dashboard/webhooks/webhook-texts';
import { applyTransitions } from '../../services/ledger/transition-path';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { createTestLedger, creation } from '../../support/payments';
import { createMember } from '../../support/people';
import { newMasterKey } from '../../support/service';
import { issueInvoice } from '../../support/shown-invoices';

/* The pages of webhooks with the rights of the dashboard's role, and a Temporal that rejects every call. */

const [TEXTS, DELIVERIES] = [WEBHOOK_TEXTS.en, DELIVERY_TEXTS.en];
const URL_OF_SHOP = 'http://127.0.0.1:9/hook-token?key=hidden';

let ledger: Awaited<ReturnType<typeof createTestLedger>>;
let temporal: Server;
let dashboard: TestDashboard;
let home: string;
let cookie: string;
let developer: string;

beforeAll(async () => {
  ledger = await createTestLedger();
  const { db, merchantId, database } = ledger;
  temporal = new Server();
  const bind = promisify(temporal.bindAsync.bind(temporal));
  const port = await bind('127.0.0.1:0', ServerCredentials.createInsecure());
  dashboard = await startTestDashboard({
    apiUrl: 'http://127.0.0.1:1',
    dashboardDatabaseUrl: database.urlOf('lunas_local_dashboard'),
    db,
    masterKey: randomBytes(32).toString('base64'),
    temporal: { address: `127.0.0.1:${port}`, namespace: 'none', security: {} },
  });
  await createMember(db, 'owner@shop.test', [[merchantId, 'owner']]);
  await createMember(db, 'developer@shop.test', [[merchantId, 'developer']]);
  await db.query("update users set language = 'en'");
  cookie = await dashboard.cookie('owner@shop.test');
  developer = await dashboard.cookie('developer@shop.test');
  const { rows } = await db.query<{ code: string }>('select code from merchants');
  home = `/m/${rows[0]?.code}/developers`;
});
afterAll(async () => {
  await dashboard.close();
  temporal.forceShutdown();
  await ledger.close();
});
afterEach(() => ledger.db.query("update merchants set status = 'approved'"));

async function send(path: string, form?: Readonly<Record<string, string>>, by = cookie) {
  const response = await fetch(dashboard.url + home + path, {
    method: form ? 'POST' : 'GET',
    headers: { cookie: by, ...(form && { 'sec-fetch-site': 'same-origin' }) },
    redirect: 'manual',
    ...(form && { body: new URLSearchParams(form) }),
  });
  const { status, headers } = response;
  return { status, location: headers.get('location')?.replace(home, ''), body: await response.text() };
}

async function create(changes: Readonly<Record<string, string>> = {}) {
  const form = { form_id: randomUUID(), url: URL_OF_SHOP, scope: 'all', ...changes };
  return { id: form.form_id, path: `/webhooks/${form.form_id}`, form, ...(await send('/webhooks/new', form)) };
}

async function newestAct() {
  const { rows } = await ledger.db.query(
    `select action, target, user_actions.detail, outcome, user_action_outcomes.detail as reason
     from user_actions left join user_action_outcomes on action_id = id order by id desc limit 1`,
  );
  return { ...rows[0], detail: JSON.parse(rows[0].detail) };
}

it('the form of an endpoint, sent twice, makes one, and the audit log has no more than its host', async () => {
  const { id, form, status, body } = await create({ expand_metadata: 'on' });
  expect([status, /whsec_[^<]+=/.test(body)]).toEqual([200, true]);
  const detail = { events: [], expand: ['metadata'], url: 'http://127.0.0.1:9' };
  const act = await newestAct();
  expect(act).toMatchObject({ action: 'webhook.create', target: id, outcome: 'succeeded' });
  expect(act.detail).toEqual(detail);
  const again = await send('/webhooks/new', form);
  expect([again.status, again.body.includes(TEXTS.secret.exists), again.body.includes('whsec_')]).toEqual([
    200,
    true,
    false,
  ]);
  const { form_id: _, ...unnumbered } = form;
  const missing = await send('/webhooks/new', unnumbered);
  expect([missing.status, missing.body.includes(TEXTS.form.errors.form)]).toEqual([422, true]);
});

it('a rejection stands beside its field or above the button, with what was sent', async () => {
  const { path } = await create({ expand_customer: 'on' });
  const edit = (form: Readonly<Record<string, string>>, by: string) =>
    send(`${path}/edit`, { form_id: randomUUID(), scope: 'all', ...form }, by);
  const internal = await edit({ url: 'http://10.0.0.1/' }, cookie);
  expect([internal.status, internal.body.includes(TEXTS.form.errors.not_public)]).toEqual([422, true]);
  expect(internal.body).toContain('value="http://10.0.0.1/"');
  const listed = await edit({ url: URL_OF_SHOP, scope: 'listed' }, cookie);
  expect([listed.status, listed.body.includes(TEXTS.form.errors.events)]).toEqual([422, true]);
  expect((await edit({ url: URL_OF_SHOP }, developer)).status).toBe(409);
  const foreign = await send(
    `${(await create()).path}/edit`,
    { url: URL_OF_SHOP, scope: 'all', expand_customer: 'on' },
    developer,
  );
  expect([foreign.status, foreign.body.includes(TEXTS.form.errors.foreign_members)]).toEqual([422, true]);
  expect((await edit({ url: URL_OF_SHOP }, cookie)).location).toBe(`${path}?done=saved`);
  expect((await send(`${path}?done=saved`)).body).toContain(TEXTS.detail.done.saved);
});

it('a secret is rotated once by each form', async () => {
  const { path } = await create();
  const form = { form_id: randomUUID(), overlap: '0' };
  expect((await send(`${path}/rotate`)).body).toContain(TEXTS.confirm.rotate.text);
  expect((await send(`${path}/rotate`, form)).body).toContain(TEXTS.secret.oldEnded);
  expect((await send(`${path}/rotate`, form)).body).toContain(TEXTS.secret.exists);
  const overlap = await send(`${path}/rotate`, { form_id: randomUUID(), overlap: '24' });
  expect(overlap.body).toContain(TEXTS.secret.oldEnds);
});

it('a ping that Temporal does not take is 503, and the audit log does not claim that it was sent or not', async () => {
  const { id, path } = await create();
  const { status, body } = await send(`${path}/ping`, { form_id: randomUUID() });
  expect([status, body.includes(TEXTS.rejections.ping)]).toEqual([503, true]);
  const reason = expect.stringContaining('Failed to start Workflow');
  expect(await newestAct()).toMatchObject({ action: 'webhook.ping', target: id, outcome: 'indeterminate', reason });
});

it('a member switches an endpoint off and on, each once; a suspended merchant only takes rights away', async () => {
  const { path } = await create();
  const change = async (action: 'disable' | 'enable' | 'delete') => {
    const { status, location } = await send(`${path}/${action}`, {});
    return location ?? status;
  };
  expect(await change('enable')).toBe(409);
  expect(await change('disable')).toBe(`${path}?done=disabled`);
  const again = await send(`${path}/disable`, {});
  expect([again.status, again.body.includes(TEXTS.rejections.disabled)]).toEqual([409, true]);
  expect(await change('enable')).toBe(`${path}?done=enabled`);
  await ledger.db.query("update merchants set status = 'suspended'");
  expect(await change('disable')).toBe(`${path}?done=disabled`);
  expect(await change('enable')).toBe(409);
  expect((await send(`${path}/ping`, { form_id: randomUUID() })).status).toBe(409);
  expect(await change('delete')).toBe('/webhooks?done=deleted');
  expect((await send('/webhooks?done=deleted')).body).toContain(TEXTS.detail.done.deleted);
  expect(await change('delete')).toBe(404);
});

it('a dead delivery is redelivered by its button, and those of days by one form', async () => {
  const { id, path } = await create({ scope: 'listed', payment_created: 'on' });
  await transitionWriters.create(ledger.context, creation(ledger.newTerms(), new Date()));
  const { rows } = await ledger.db.query<{ id: string }>('select id from webhook_deliveries where endpoint_id = $1', [
    id,
  ]);
  const delivery = rows[0]?.id ?? '';
  const redeliver = async () => {
    const { status, location } = await send(`/deliveries/${delivery}/redeliver`, {});
    return location ?? status;
  };
  const die = () =>
    ledger.db.query(
      "update webhook_deliveries set status = 'dead', dead_reason = 'endpoint_gone', finished_at = now() where id = $1",
      [delivery],
    );
  const days = { from: '2020-01-01', to: '2099-01-01' };
  const range = `/deliveries/redeliver?${new URLSearchParams(days).toString()}`;
  expect((await send(`/deliveries/${delivery}`)).body).toContain(DELIVERIES.rejections.pending);
  expect(await redeliver()).toBe(409);
  await die();
  expect((await send(`/deliveries?status=dead&endpoint=${id}`)).body).toContain(`/deliveries/${delivery}"`);
  expect((await send(path)).body).toContain(`/deliveries/${delivery}"`);
  expect(await redeliver()).toBe(`/deliveries/${delivery}?done=redelivered`);
  expect(await newestAct()).toMatchObject({ action: 'webhook.redeliver', target: delivery, outcome: 'succeeded' });
  const none = await send(range);
  expect([none.status, none.body.includes(DELIVERIES.range.none)]).toEqual([200, true]);
  expect((await send('/deliveries/redeliver', days)).status).toBe(409);
  expect((await send('/deliveries/redeliver', { from: days.to, to: days.from })).status).toBe(409);
  await die();
  expect((await send(range)).body).not.toContain(DELIVERIES.range.none);
  const query = new URLSearchParams({ status: 'dead', ...days, redelivered: '1' });
  expect((await send('/deliveries/redeliver', days)).location).toBe(`/deliveries?${query.toString()}`);
  expect(await newestAct()).toMatchObject({ action: 'webhook.redeliver', outcome: 'succeeded' });
  expect((await send(`/deliveries/${randomUUID()}/redeliver`, {})).status).toBe(404);
  expect((await send('/deliveries/none/redeliver', {})).status).toBe(404);
});

it('a member who sees neither the balance nor endpoints reads no amount of an invoice in its delivery', async () => {
  const { db, merchantId } = ledger;
  await createMember(db, 'support@shop.test', [[merchantId, 'support']]);
  await db.query("update users set language = 'en'");
  await create({ scope: 'listed', invoice_issued: 'on' });
  await applyTransitions(ledger, ['issue', 'pay']);
  const { number } = await issueInvoice({ db, masterKey: newMasterKey() }, merchantId);
  const { rows } = await db.query("select id from webhook_deliveries where event = 'invoice.issued'");
  const read = (by: string) => send(`/deliveries/${rows[0].id}`, undefined, by);
  const hidden = (await read(await dashboard.cookie('support@shop.test'))).body;
  expect(hidden).toContain('Only these roles may do this: Owner, Finance, Developer, Viewer.');
  expect(hidden).not.toContain('fee_amount');
  for (const by of [cookie, developer]) {
    const { body } = await read(by);
    expect([body.includes('fee_amount'), body.includes(number)]).toEqual([true, true]);
  }
});
