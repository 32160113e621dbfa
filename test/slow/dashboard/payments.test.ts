import { randomUUID } from 'node:crypto';
import { recordRequests } from '../../../src/db/operations/recorded-requests';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../src/domain/payment-transitions';
import { REFUND_STEP_UP } from '../../../src/domain/sign-in';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { creationText } from '../../../src/web/dashboard/payments/create-rejections';
import { PAYMENT_TEXTS } from '../../../src/web/dashboard/payments/payment-texts';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { applyTransitions, payLate, type AppliedPath } from '../../services/ledger/transition-path';
import { archiveRow } from '../../support/archive-row';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { createPage } from '../../support/payment-page';
import { newTerms, type TestLedger } from '../../support/payments';
import { createMember, createShop } from '../../support/people';
import { insertCatalog, seedPayments } from '../../support/seed-payments';
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
  return { status: response.status, location: response.headers.get('location'), body: await response.text() };
}

async function post(path: string, form: Readonly<Record<string, string>>, as = cookie) {
  const response = await fetch(new URL(path, dashboard.url), {
    method: 'POST',
    headers: { cookie: as, 'sec-fetch-site': 'same-origin', origin: dashboard.url },
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
  it('an action of an earlier state of the payment is rejected, and the page shows the state of now', async () => {
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
    const statuses = await Promise.all(
      [0, 1, 2].map(async () => (await post(path, { form_id: randomUUID(), version })).status),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 409, 409]);
    const { rows } = await service.db.query('select from refunds where payment_id = $1', [paymentId]);
    expect(rows).toHaveLength(1);
  });
});

it('what prevents a page stands in the frame of the merchant, for its members', async () => {
  const email = 'frame@shop.test';
  await createMember(service.db, email, [[service.merchantId, 'cashier']]);
  const cashier = await dashboard.cookie(email);
  const isFramed = ({ body }: { body: string }) => body.includes('class="side"');
  const current = ({ body }: { body: string }) => /href="([^"]+)" aria-current="page"/.exec(body)?.[1];
  for (const [path, status, area] of [
    ['/payments/LN00000000000000000', 404, 'payments'],
    ['/payments/LN0000000000000000000/no/such/page', 404, 'payments'],
    ['/no-such-page', 404, undefined],
    ['/activity', 403, undefined],
  ] as const) {
    const page = await get(`/m/${code}${path}`, cashier);
    expect([path, page.status, isFramed(page), current(page)]).toEqual([
      path,
      status,
      true,
      area && `/m/${code}/${area}`,
    ]);
  }
  const { id } = await createShop(service.db);
  const foreign = await get(`/m/${await codeOf(id)}/no-such-page`, cashier);
  const visitor = await get(`/m/${code}/no-such-page`, '');
  expect([foreign, visitor].map((page) => [page.status, isFramed(page)])).toEqual([
    [404, false],
    [404, false],
  ]);
});

describe('a proof of identity', () => {
  const stepUp = (path: string) => `/step-up?then=${encodeURIComponent(path)}`;

  /** A member with a session that is not of a development link, and was never stepped up. */
  async function memberWithoutProof(email: string) {
    const id = await createMember(service.db, email, [[service.merchantId, 'support']]);
    const as = await dashboard.cookie(email);
    await service.db.query("update sessions set method = 'password', stepped_up_at = null where user_id = $1", [id]);
    const prove = () => service.db.query('update sessions set stepped_up_at = now() where user_id = $1', [id]);
    return { as, prove };
  }

  async function createPaid(amount: number) {
    const { referenceId, paymentId } = await createPage(service, { amount });
    await service.pay(referenceId);
    const path = `/m/${code}/payments/${referenceId}`;
    await eventually(
      () => service.db.query<{ status: string }>('select status from payments where id = $1', [paymentId]),
      ({ rows }) => rows[0]?.status === 'paid',
    );
    const { rows } = await service.db.query<{ version: number }>('select version from payments where id = $1', [
      paymentId,
    ]);
    return { paymentId, path, form: { form_id: randomUUID(), version: String(rows[0]?.version) } };
  }

  it('a refund needs a proof of identity if the refunds of the last hour with it are above the limit', async () => {
    const support = await memberWithoutProof('refunds@shop.test');
    const [most, above, rest, next] = [
      await createPaid(REFUND_STEP_UP.aboveRupiah - 100_000),
      await createPaid(150_000),
      await createPaid(50_000),
      await createPaid(60_000),
    ];
    const refund = ({ path, form }: typeof most, { as } = support) => post(`${path}/refund`, form, as);
    const done = ({ path }: typeof most) => [303, `${path}?done=refund_requested`];
    const responseOf = ({ status, location }: Awaited<ReturnType<typeof post>>) => [status, location];
    expect((await get(`${most.path}/refund`, support.as)).status).toBe(200);
    expect(responseOf(await refund(most))).toEqual(done(most));
    const asked = [303, stepUp(`${above.path}/refund`)];
    expect(responseOf(await get(`${above.path}/refund`, support.as))).toEqual(asked);
    expect(responseOf(await refund(above))).toEqual(asked);
    expect(await actionsOn(above.paymentId)).toEqual(['payment.refund rejected']);
    // What was rejected does not count, and each user has a sum of their own.
    expect(responseOf(await refund(rest))).toEqual(done(rest));
    expect(responseOf(await refund(next))).toEqual([303, stepUp(`${next.path}/refund`)]);
    expect(responseOf(await refund(next, await memberWithoutProof('others@shop.test')))).toEqual(done(next));
    await support.prove();
    expect((await get(`${above.path}/refund`, support.as)).status).toBe(200);
    expect(responseOf(await refund(above))).toEqual(done(above));
    expect(await actionsOn(above.paymentId)).toEqual(['payment.refund rejected', 'payment.refund succeeded']);
  });

  it('one of two concurrent refunds that together are above the limit needs a proof of identity', async () => {
    const { as } = await memberWithoutProof('same-time@shop.test');
    const paid = [await createPaid(1_100_000), await createPaid(1_100_000)];
    const responses = await Promise.all(paid.map(({ path, form }) => post(`${path}/refund`, form, as)));
    const asked = responses.filter(({ location }) => location?.startsWith('/step-up'));
    expect(responses.map(({ status }) => status)).toEqual([303, 303]);
    expect(asked.length).toBeGreaterThan(0);
  });

  it('the data of a customer needs a proof of identity, and its reading is recorded after it', async () => {
    const support = await memberWithoutProof('reader@shop.test');
    const { referenceId, paymentId } = await createPage(service, { customer: { name: 'Budi' } });
    const path = `/m/${code}/payments/${referenceId}/customer`;
    const { status, location, body } = await get(path, support.as);
    expect([status, location, body.includes('Budi')]).toEqual([303, stepUp(path), false]);
    expect(await actionsOn(paymentId)).toEqual([]);
    await support.prove();
    expect((await get(path, support.as)).body).toContain('Budi');
    expect(await actionsOn(paymentId)).toEqual(['customer.read succeeded']);
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

it('the page of a paid code has the order, and what its user has taken today', async () => {
  const email = 'day-total@shop.test';
  const user = await createMember(service.db, email, [[service.merchantId, 'cashier']]);
  await service.db.query("update users set language = 'en' where id = $1", [user]);
  const cashier = await dashboard.cookie(email);
  const take = async (amount: string, as: string) => {
    const form = { form_id: randomUUID(), amount, order: `MEJA-${amount}` };
    const { location } = await post(`/m/${code}/payments/new`, form, as);
    const path = location ?? '';
    await service.pay(path.split('/')[4] ?? '');
    const { body } = await eventually(
      () => get(path, as),
      (page) => page.body.includes('state paid'),
    );
    return body.replaceAll(/<[^>]+>/g, ' ');
  };
  await take('70000', cookie);
  expect(await take('12000', cashier)).toMatch(/MEJA-12000 .*Your paid QRs today: 1 +Rp\u00a012.000 /s);
  expect(await take('3000', cashier)).toMatch(/MEJA-3000 .*Your paid QRs today: 2 +Rp\u00a015.000 /s);
});

it('a new payment with a description and an own expiry shows both, and the audit log has no description', async () => {
  const form = { form_id: randomUUID(), amount: '12.500', description: 'Kopi <susu>', expires_in: '3600' };
  const { location } = await post(`/m/${code}/payments/new`, form);
  const { body } = await get((location ?? '').replace(/\/qr$/, ''));
  expect(body).toContain('Kopi &lt;susu&gt;');
  const { rows } = await service.db.query<{ seconds: number; detail: string }>(
    `select extract(epoch from expires_at - date_trunc('second', created_at))::integer as seconds, detail
     from payments join user_actions on target = payments.id::text where idempotency_key = $1`,
    [`dashboard-${form.form_id}`],
  );
  expect(rows).toHaveLength(1);
  expect([3_600, 3_601]).toContain(rows[0]?.seconds);
  expect(JSON.parse(rows[0]?.detail ?? '')).toEqual({ amount: 12_500, provider: 'gopay', expires_in: 3_600 });
});

it.each([
  ['Rp 12.500', 303, false],
  ['rp12500', 303, false],
  ['50rb', 422, true],
  ['12,500', 422, true],
])('a new payment of %s: %s', async (amount, expected, isCorrected) => {
  const { status, body } = await post(`/m/${code}/payments/new`, { form_id: randomUUID(), amount });
  expect([status, body.includes(TEXTS.create.errors.amount)]).toEqual([expected, isCorrected]);
});

describe('a new payment that is rejected', () => {
  let cashier: string;
  beforeAll(async () => {
    const email = 'cashier@rejected.test';
    await createMember(service.db, email, [[service.merchantId, 'cashier']]);
    await service.db.query("update users set language = 'id' where email = $1", [email]);
    cashier = await dashboard.cookie(email);
  });

  it('a rejection by the provider is a 409 in the language of the member, and is recorded', async () => {
    const form = { form_id: randomUUID(), amount: '1.000.402' };
    const { status, body } = await post(`/m/${code}/payments/new`, form, cashier);
    const { rows } = await service.db.query<{ id: string; reason: string }>(
      'select id, failure_reason as reason from payments where idempotency_key = $1',
      [`dashboard-${form.form_id}`],
    );
    const [payment] = rows;
    const rejection = { reason: 'provider_rejected', failureReason: null, status: 'failed', isRepeat: false } as const;
    expect(status).toBe(409);
    expect(body).toContain(creationText('id', rejection));
    expect(body).not.toContain(payment?.reason);
    expect(await actionsOn(payment?.id ?? '')).toEqual(['payment.create rejected']);
  });

  it('before it is created: 422 at its field, and nothing is recorded', async () => {
    const count = async () =>
      (await service.db.query("select from user_actions where action = 'payment.create'")).rowCount;
    const before = await count();
    const { status, body } = await post(`/m/${code}/payments/new`, { form_id: randomUUID(), amount: '1' }, cashier);
    expect(status).toBe(422);
    expect(body).toContain('id="amount-error"');
    expect(await count()).toBe(before);
  });
});

it('the QR page of a payment that cannot be cancelled has the reason instead of the link', async () => {
  const [other, cancellable] = [await createPage(service, { provider: 'shopeepay' }), await createPage(service)];
  const { body } = await get(`/m/${code}/payments/${other.referenceId}/qr`);
  expect(body).toContain(TEXTS.rejections.provider_cannot_cancel);
  expect(body).not.toContain('/cancel"');
  expect((await get(`/m/${code}/payments/${cancellable.referenceId}/qr`)).body).toContain('/cancel"');
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
    customer: { name: CORPUS[0], email: 'budi@shop.test', phone: '0812', constructor: 'PT Bangun' },
    metadata: { table: CORPUS[1], note: CORPUS[2], emoji: CORPUS[3] },
    merchant_reference_id: CORPUS[4],
  });
  const { id, reference_id: reference } = created.body.payment;
  const path = `/m/${code}/payments/${reference}/customer`;
  const { status, body } = await get(path);
  expect(status).toBe(200);
  expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(body).toContain('<bdi>🙂𠮷</bdi>');
  expect(body).toMatch(/constructor<\/dt><dd[^>]*><bdi>PT Bangun/);
  expect(body).not.toMatch(/<script>alert|<img/);
  await createMember(service.db, 'cashier@customer.test', [[service.merchantId, 'cashier']]);
  const cashier = await dashboard.cookie('cashier@customer.test');
  expect((await get(path, cashier)).status).toBe(403);
  expect((await get(`/m/${code}/payments/${reference}`, cashier)).body).not.toContain('/customer"');
  expect(await actionsOn(id)).toEqual(['customer.read succeeded']);
});

/** The names and texts of the facts of a page. */
function factsIn(body: string): Map<string, string> {
  const facts = body.matchAll(/<dt>([^<]*)<\/dt><dd>(.*?)<\/dd>/gs);
  return new Map(Array.from(facts, ([, name = '', value = '']) => [name, value.replace(/<[^>]*>/g, '')]));
}

describe('the facts of a payment', () => {
  it('name the member who created it, the payer of its fee and its policy', async () => {
    const { location } = await post(`/m/${code}/payments/new`, { form_id: randomUUID(), amount: '33.000' });
    const { body } = await get((location ?? '').replace(/\/qr$/, ''));
    const { rows } = await service.db.query<{ name: string }>('select name from users where email = $1', [
      DEMO_OWNER_EMAIL,
    ]);
    const facts = factsIn(body);
    expect(facts.get(OWN.createdBy)).toBe(rows[0]?.name);
    expect(facts.get(OWN.feePayer)).toBe(OWN.feePayers.merchant);
    expect(facts.get(OWN.policy)).toMatch(/^Version \d+: .* % per payment, settled after \d+ \w+$/);
    expect(facts.has(OWN.request)).toBe(false);
  });

  it('name the key and its request while it is recorded, with links for those who may follow them', async () => {
    const { referenceId, paymentId } = await createPage(service);
    const { rows } = await service.db.query<{ requestId: string; keyId: string }>(
      `select request_id as "requestId", (
         select id from api_keys where merchant_id = $2 order by created_at, id limit 1
       ) as "keyId"
       from payment_transitions where payment_id = $1 and version = 1`,
      [paymentId, service.merchantId],
    );
    const { requestId = '', keyId = '' } = rows[0] ?? {};
    const path = `/m/${code}/payments/${referenceId}`;
    const row = { requestId, startedAt: new Date(), keyId, method: 'POST', path: '/payments', status: 201 };
    const error = { errorCode: null, errorReason: null, errorDetail: null, ignoredFields: [], ignoredParameters: [] };
    const record = (merchantId: string, paymentIds: string[]) =>
      recordRequests(service.db, [{ ...row, ...error, durationMs: 5, merchantId, paymentIds }]);
    // The API records a request after its response.
    await eventually(
      () => service.db.query('delete from api_requests where request_id = $1', [requestId]),
      ({ rowCount }) => rowCount === 1,
    );
    // Callers choose the ids of their requests: neither another payment's nor another merchant's request is this one.
    await record(service.merchantId, [randomUUID()]);
    await record((await createShop(service.db)).id, [paymentId]);
    const before = await get(path);
    expect(factsIn(before.body).get(OWN.createdBy)).toBe(OWN.key);
    expect(factsIn(before.body).get(OWN.request)).toContain(requestId);
    expect(before.body).not.toContain(`/developers/requests/${requestId}`);
    await record(service.merchantId, [paymentId]);
    const { body } = await get(path);
    expect(factsIn(body).get(OWN.createdBy)).toMatch(new RegExp(`^${OWN.key} .+`));
    expect(body).toContain(`href="/m/${code}/developers/keys/${keyId}"`);
    expect((await get(`/m/${code}/developers/requests/${requestId}`)).body).toContain(referenceId);
    expect(body).toContain(`href="/m/${code}/developers/requests/${requestId}"`);
    await createMember(service.db, 'cashier@origin.test', [[service.merchantId, 'cashier']]);
    const ofCashier = await get(path, await dashboard.cookie('cashier@origin.test'));
    expect(factsIn(ofCashier.body).get(OWN.request)).toContain(requestId);
    expect(ofCashier.body).not.toContain('/developers/');
  });
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
    expect(body).not.toContain(TEXTS.list.noMatch);
    expect(references(body)).toEqual([]);
  });

  it('a provider, with and without a group, selects each of its payments once', async () => {
    for (const query of ['?provider=shopeepay', '?provider=shopeepay&group=paid']) {
      const found = await follow(start + query);
      expect([query, found.length, new Set(found).size]).toEqual([query, 30, 30]);
    }
  });
});

describe('an open list', () => {
  const options = { rareOneIn: 100, sameReference: 3 };
  const referencesIn = (body: string) => Array.from(body.matchAll(/<code>(LN\w+)<\/code>/g), ([, text = '']) => text);
  const polledIn = (body: string) => /data-poll="([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';

  it('counts the payments above it, at most 50, and keeps its rows', async () => {
    const { db } = service;
    const shop = await createShop(db);
    await createMember(db, 'viewer@open.test', [[shop.id, 'viewer']]);
    const viewer = await dashboard.cookie('viewer@open.test');
    const start = `/m/${await codeOf(shop.id)}/payments`;
    const setLanguage = (language: string) =>
      db.query("update users set language = $1 where email = 'viewer@open.test'", [language]);
    await seedPayments(db, shop.id, { ...options, count: 60, from: '2026-11-02T01:00:00Z' });
    const queries = ['', '?group=paid', '?provider=gopay&group=paid', '?from=2026-11-02&to=2026-11-02&amount=50000'];
    const opened = await Promise.all(queries.map(async (query) => get(start + query, viewer)));
    await seedPayments(db, shop.id, { ...options, count: 1, from: '2026-11-02T02:00:00Z' });
    for (const { body } of opened) {
      const again = await get(polledIn(body), viewer);
      expect([again.body.includes(`${OWN.newPayments('1')} ${OWN.show}`), polledIn(body)]).toEqual([
        true,
        polledIn(body),
      ]);
      expect(referencesIn(again.body)).toEqual(referencesIn(body));
      expect(body).not.toContain(OWN.newPayments('1'));
    }
    await seedPayments(db, shop.id, { ...options, count: 60, from: '2026-11-02T03:00:00Z' });
    const [all] = opened;
    const polled = polledIn(all?.body ?? '');
    expect((await get(polled, viewer)).body).toContain(`href="${start}">${OWN.newPayments('50+')} ${OWN.show}`);
    await setLanguage('id');
    const { newPayments, show } = PAYMENT_TEXTS.id;
    expect((await get(polled, viewer)).body).toContain(`${newPayments('50+')} ${show}`);
    expect((await get(`${start}?top=x`, viewer)).status).toBe(422);
  });
});

type Steps = Parameters<typeof applyTransitions>[1];

const REFUND = ['issue', 'pay', 'request_refund', 'submit_refund'] as const;
const PATHS: Readonly<Record<PaymentStatus, Steps>> = {
  created: [],
  pending: ['issue'],
  paid: ['issue', 'pay'],
  settled: ['issue', 'pay', 'settle'],
  expired: ['issue', 'expire'],
  failed: ['fail_creation'],
  cancelled: ['issue', 'cancel'],
  refund_processing: ['issue', 'pay', 'request_refund'],
  refund_failed: [...REFUND, 'fail_refund'],
  refunded: [...REFUND, 'confirm_refund'],
};
const THREE_REFUNDS = [...REFUND, 'fail_refund', 'retry_refund', 'cancel_refund', 'request_refund'] as const;

describe.each(['id', 'en'] as const)('the detail of a payment in %s', (language) => {
  const texts = DASHBOARD_TEXTS[language];
  let ledger: TestLedger;
  let payments: string;
  let as: string;

  beforeAll(async () => {
    const { db } = service;
    const { id: merchantId } = await createShop(db);
    const [policyId, providerAccountId] = await insertCatalog(db);
    ledger = {
      db,
      merchantId,
      context: { db, environment: 'sandbox', onDeliveries: () => undefined },
      newTerms: (changes = {}) => newTerms({ merchantId, policyId, providerAccountId, ...changes }),
      close: () => Promise.resolve(),
    };
    await createMember(db, `${language}@detail.test`, [[merchantId, 'owner']]);
    await db.query('update users set language = $1 where email = $2', [language, `${language}@detail.test`]);
    as = await dashboard.cookie(`${language}@detail.test`);
    payments = `/m/${await codeOf(merchantId)}/payments`;
  });

  const read = async ({ terms }: AppliedPath) => (await get(`${payments}/${terms.referenceId}`, as)).body;

  const timelineIn = (body: string) =>
    Array.from(
      body.matchAll(/<div class="event"><(?:b|span)>([^<]*)<.*?<\/div>(?:<p class="dim">([^<]*)<)?/gs),
      ([, title = '', note = '']) => [title, note] as const,
    );

  it.each(Object.entries(PATHS))('a %s payment has its status and transitions, oldest first', async (status, steps) => {
    const body = await read(await applyTransitions(ledger, steps));
    expect(body).toContain(`<html lang="${language}"`);
    const names = ['create', ...steps] as const;
    expect(timelineIn(body).map(([title]) => title)).toEqual(names.map((name) => texts.transitions[name]));
    const [, chip] = /<span class="chip[^"]*"><svg.*?<\/svg>([^<]*)</.exec(body) ?? [];
    expect(chip?.trim()).toBe(texts.statuses[statusOf(status)]);
    const facts = factsIn(body);
    expect(facts.has(texts.detail.net)).toBe(!['expired', 'failed', 'cancelled', 'refunded'].includes(status));
    expect(facts.has(texts.confirm.refund.fee)).toBe(status === 'refunded');
  });

  it.each(Object.entries(PATHS))('the list shows whether a %s payment was received', async (status, steps) => {
    const { terms } = await applyTransitions(ledger, steps);
    const { body } = await get(`${payments}?q=${terms.referenceId}`, as);
    const [, net] = /<td role="cell" class="number hidden">(.*?)<\/td>/.exec(body) ?? [];
    const isReceived = ['paid', 'settled', 'refund_processing', 'refund_failed'].includes(status);
    expect(net?.replace(/<[^>]*>/g, '')).toBe(isReceived ? 'Rp\u00a049.650' : '–');
  });

  it('a payment with three refunds has the number of its refund at each step', async () => {
    const entries = timelineIn(await read(await applyTransitions(ledger, THREE_REFUNDS)));
    const { refundNumber } = PAYMENT_TEXTS[language];
    const numbers = entries.map(([, note]) => [1, 2, 3].find((number) => note.includes(refundNumber(number))));
    expect(entries.map(([title]) => title)).toEqual(
      ['create' as const, ...THREE_REFUNDS].map((name) => texts.transitions[name]),
    );
    expect(numbers).toEqual([undefined, undefined, undefined, 1, 1, 1, 2, 2, 3]);
    const reasons = entries.flatMap(([title, note]) => (note.includes('denied') ? [title] : []));
    expect(reasons).toEqual([texts.transitions.fail_refund]);
  });

  it('money after the end of a payment stands last', async () => {
    const path = await applyTransitions(ledger, ['issue', 'expire']);
    await payLate(ledger, path, 50_000, 'refunded');
    await service.db.query(
      "update late_payments set received_at = received_at + interval '1 h' where payment_id = $1",
      [path.terms.paymentId],
    );
    expect(timelineIn(await read(path)).map(([title]) => title)).toEqual([
      texts.transitions.create,
      texts.transitions.issue,
      texts.transitions.expire,
      texts.detail.latePaymentOf('Rp 50.000'),
    ]);
  });

  it('an archived payment has its reference and its day, for its own merchant', async () => {
    const { archived } = PAYMENT_TEXTS[language];
    const { referenceId, paymentId } = await archiveRow(service.db, ledger.merchantId, '2026-01-30');
    for (const name of [referenceId, paymentId]) {
      const { status, body } = await get(`${payments}/${name}`, as);
      expect([name, status]).toEqual([name, 200]);
      expect(body).toContain(archived.text);
      expect(factsIn(body).get(texts.detail.reference)).toContain(referenceId);
      expect(factsIn(body).get(archived.createdOn)).toBe('2026-01-30');
    }
    expect((await get(`/m/${code}/payments/${referenceId}`)).status).toBe(404);
    for (const suffix of ['/qr', '/refund', '/customer']) {
      expect([suffix, (await get(`${payments}/${referenceId}${suffix}`, as)).status]).toEqual([suffix, 404]);
    }
  });
});

function statusOf(text: string): PaymentStatus {
  const status = PAYMENT_STATUSES.find((each) => each === text);
  if (status === undefined) throw new Error(`${text} is no status`);
  return status;
}
