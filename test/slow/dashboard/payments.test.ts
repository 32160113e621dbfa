import { randomUUID } from 'node:crypto';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { PAYMENT_TEXTS } from '../../../src/web/dashboard/payments/payment-texts';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { createPage } from '../../support/payment-page';
import { createMember, createShop } from '../../support/people';
import { seedPayments } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const TEXTS = DASHBOARD_TEXTS.en;
const OWN = PAYMENT_TEXTS.en;

let service: TestService;
let dashboard: TestDashboard;
let cookie: string;
let code: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
  cookie = await dashboard.cookie(DEMO_OWNER_EMAIL);
  await service.db.query("update users set language = 'en' where email = $1", [DEMO_OWNER_EMAIL]);
  code = await codeOf(service.merchantId);
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});

async function codeOf(merchantId: string): Promise<string> {
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [merchantId]);
  return rows[0]?.code ?? '';
}

async function get(path: string, as = cookie) {
  const response = await fetch(new URL(path, dashboard.url), { headers: { cookie: as }, redirect: 'manual' });
  return { status: response.status, body: await response.text() };
}

async function post(path: string, form: Readonly<Record<string, string>>) {
  const response = await fetch(new URL(path, dashboard.url), {
    method: 'POST',
    headers: { cookie, 'sec-fetch-site': 'same-origin', origin: dashboard.url },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  return { status: response.status, location: response.headers.get('location'), body: await response.text() };
}

async function actionsOn(target: string): Promise<string[]> {
  const { rows } = await service.db.query<{ text: string }>(
    `select action.action || ' ' || outcome.outcome as text
     from user_actions action join user_action_outcomes outcome on outcome.action_id = action.id
     where action.target = $1 order by action.id`,
    [target],
  );
  return rows.map(({ text }) => text);
}

async function isCancelled(paymentId: string): Promise<boolean> {
  const { rows } = await service.db.query<{ status: string }>('select status from payments where id = $1', [paymentId]);
  return rows[0]?.status === 'cancelled';
}

describe('a confirmed action', () => {
  it('of an earlier state of the payment is rejected, and the page shows the state of now', async () => {
    const { referenceId, paymentId } = await createPage(service);
    const path = `/m/${code}/payments/${referenceId}/cancel`;
    for (const form of [{ version: '1' }, {}, { version: 'x' }]) {
      const { status, body } = await post(path, form);
      expect([form, status]).toEqual([form, 409]);
      expect(body).toContain(OWN.stale);
    }
    expect(await isCancelled(paymentId)).toBe(false);
    const version = /name="version" value="(\d+)"/.exec((await post(path, {})).body)?.[1] ?? '';
    expect((await post(path, { version })).status).toBe(303);
    expect(await isCancelled(paymentId)).toBe(true);
    expect(await actionsOn(paymentId)).toEqual([
      ...Array.from({ length: 4 }, () => 'payment.cancel rejected'),
      'payment.cancel succeeded',
    ]);
  });

  it('requests one refund, however often its form is sent', async () => {
    const { referenceId, paymentId } = await createPage(service);
    await service.pay(referenceId);
    const path = `/m/${code}/payments/${referenceId}/refund`;
    let version = '';
    for (let reads = 0; reads < 200 && version === ''; reads += 1) {
      const { body } = await get(path);
      if (!body.includes('disabled')) version = /name="version" value="(\d+)"/.exec(body)?.[1] ?? '';
    }
    const statuses = await Promise.all([0, 1, 2].map(async () => (await post(path, { version })).status));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 409, 409]);
    const { rows } = await service.db.query('select from refunds where payment_id = $1', [paymentId]);
    expect(rows).toHaveLength(1);
  });
});

it('a new payment is recorded with its user', async () => {
  const { location } = await post(`/m/${code}/payments/new`, { form_id: randomUUID(), amount: '12.500' });
  const reference = /payments\/(\w+)\/qr/.exec(location ?? '')?.[1];
  const { rows } = await service.db.query<{ id: string }>('select id from payments where reference_id = $1', [
    reference,
  ]);
  expect(await actionsOn(rows[0]?.id ?? '')).toEqual(['payment.create succeeded']);
});

/** What a stranger may send. */
const CORPUS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '\u202Eevil',
  '🙂𠮷',
  'javascript:alert(1)',
];

it('customer data is shown as text, to those who may see it, and each reading is recorded', async () => {
  const created = await service.call('POST', '/payments', {
    amount: 25_000,
    customer: { name: CORPUS[0], email: 'budi@shop.test', phone: '0812' },
    metadata: { table: CORPUS[1], note: CORPUS[2], emoji: CORPUS[3] },
    merchant_reference_id: CORPUS[4],
  });
  const { id, reference_id: reference } = created.body.payment;
  const path = `/m/${code}/payments/${reference}/customer`;
  const { status, body } = await get(path);
  expect(status).toBe(200);
  expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(body).toContain('<bdi>🙂𠮷</bdi>');
  expect(body).not.toMatch(/<script>alert|<img/);
  await createMember(service.db, 'cashier@customer.test', [[service.merchantId, 'cashier']]);
  const cashier = await dashboard.cookie('cashier@customer.test');
  expect((await get(path, cashier)).status).toBe(403);
  expect((await get(`/m/${code}/payments/${reference}`, cashier)).body).not.toContain('/customer"');
  expect(await actionsOn(id)).toEqual(['customer.read succeeded']);
});

describe('filters', () => {
  let start: string;
  let viewer: string;

  beforeAll(async () => {
    const shop = await createShop(service.db);
    await seedPayments(service.db, shop.id, {
      count: 3_000,
      from: '2026-11-02T01:00:00Z',
      rareOneIn: 100,
      sameReference: 3,
    });
    await service.db.query(
      `update payments set amount_rupiah = 77000, total_rupiah = 77000, net_rupiah = 76650
       where id in (select id from payments where merchant_id = $1 order by created_at, id limit 3)`,
      [shop.id],
    );
    await createMember(service.db, 'viewer@filters.test', [[shop.id, 'viewer']]);
    viewer = await dashboard.cookie('viewer@filters.test');
    start = `/m/${await codeOf(shop.id)}/payments`;
  });

  const references = (body: string) => Array.from(body.matchAll(/<code>(LN\w+)<\/code>/g), ([, text = '']) => text);
  const olderIn = (body: string) => /href="([^"]*[?;&]older=[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');

  async function follow(path: string): Promise<string[]> {
    const found: string[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const { body } = await get(next, viewer);
      found.push(...references(body));
      next = olderIn(body);
    }
    return found;
  }

  it('an amount is found behind 2,000 payments of the day, and the page names that limit', async () => {
    const query = '?from=2026-11-02&to=2026-11-02&amount=77.000';
    const first = await get(start + query, viewer);
    expect(first.body).toContain(OWN.searched);
    expect(references(first.body)).toEqual([]);
    expect(await follow(start + query)).toHaveLength(3);
  });

  it('an amount needs one day', async () => {
    const { status, body } = await get(`${start}?amount=77000`, viewer);
    expect(status).toBe(422);
    expect(body).toContain(TEXTS.list.errors.amountDay);
    expect(references(body)).toEqual([]);
  });

  it('a provider, with and without a group, selects each of its payments once', async () => {
    for (const query of ['?provider=shopeepay', '?provider=shopeepay&group=paid']) {
      const found = await follow(start + query);
      expect([query, found.length, new Set(found).size]).toEqual([query, 30, 30]);
    }
  });
});
