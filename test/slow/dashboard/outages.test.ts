import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { statusOf } from '../../support/created-payment';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';

const { confirm } = DASHBOARD_TEXTS.en;

let service: TestService;
let proxy: TcpProxy;
let dashboard: TestDashboard;
let home: string;
let cookie: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  proxy = await startTcpProxy(service.temporal.address);
  dashboard = await startTestDashboard({ ...service, temporal: { ...service.temporal, address: proxy.address } });
  await service.db.query("update users set language = 'en' where email = $1", [DEMO_OWNER_EMAIL]);
  cookie = await dashboard.cookie(DEMO_OWNER_EMAIL);
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [
    service.merchantId,
  ]);
  home = `/m/${rows[0]?.code}`;
});
afterAll(async () => {
  await dashboard.close();
  await proxy.close();
  await service.close();
});

async function open(path: string, form?: Readonly<Record<string, string>>) {
  const sent = form && { method: 'POST', body: new URLSearchParams(form) };
  const headers = { cookie, ...(form && { 'sec-fetch-site': 'same-origin' }) };
  const response = await fetch(`${dashboard.url}${path}`, { ...sent, headers, redirect: 'manual' });
  return { status: response.status, location: response.headers.get('location'), html: await response.text() };
}

const fieldOf = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"|value="([^"]*)"[^>]*name="${name}"`).exec(html)?.[1] ?? '';

it('pages are readable while Temporal is away, and actions say that nothing changed and work afterwards', async () => {
  const { payment } = (await service.call('POST', '/payments', { amount: 50_000 })).body;
  const cancel = `${home}/payments/${payment.reference_id}/cancel`;
  const version = fieldOf((await open(cancel)).html, 'version');
  const form = (await open(`${home}/payments/new`)).html;
  const created = { form_id: fieldOf(form, 'form_id'), amount: '75000', order: 'KEPT-1' };
  const paymentsBefore = (await service.db.query('select from payments')).rowCount;

  await proxy.cut();
  for (const path of ['', '/payments', `/payments/${payment.reference_id}`, '/balance', '/team', '/activity']) {
    expect([path, (await open(`${home}${path}`)).status]).toEqual([path, 200]);
  }
  const rejected = await open(cancel, { version });
  expect([rejected.status, rejected.html.includes(confirm.unavailable)]).toEqual([503, true]);
  expect(rejected.html).not.toMatch(/\bat .*\.(ts|js):\d+/);
  const refused = await open(`${home}/payments/new`, created);
  expect([refused.status, refused.html.includes(confirm.unavailable)]).toEqual([503, true]);
  // What was typed is still there.
  expect(refused.html).toContain('KEPT-1');
  expect((await service.db.query('select from payments')).rowCount).toBe(paymentsBefore);
  expect(await statusOf(service, payment.id)).toBe('pending');

  await proxy.restore();
  const again = await eventually(
    () => open(cancel, { version }),
    ({ status }) => status === 303,
  );
  expect(again.location).toContain('done=cancelled');
  expect((await open(`${home}/payments/new`, created)).location).toMatch(/\/qr$/);
});
