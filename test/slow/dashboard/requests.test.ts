import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { createSealer } from '../../../src/crypto/sealing';
import { recordRequests } from '../../../src/db/operations/recorded-requests';
import { mayAccess, MEMBER_ROLES } from '../../../src/domain/member-roles';
import { LANGUAGES } from '../../../src/domain/sign-in';
import { dayInWib } from '../../../src/domain/wib';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { LINK_TEXTS } from '../../../src/web/dashboard/links/link-texts';
import { DASHBOARD_ROUTES } from '../../../src/web/dashboard/routes';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { prepareBankAccount } from '../../support/bank-accounts';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { issueKey } from '../../support/keys';
import { createPage } from '../../support/payment-page';
import { addLines, applyPayout, preparePayouts } from '../../support/payouts';
import { createMember } from '../../support/people';
import { createSecondMerchant, type SecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { insertInvoice } from '../../support/shown-invoices';
import { inviteAt } from '../../support/team';
import { registerEndpoint } from '../../support/webhooks';

let service: TestService;
let dashboard: TestDashboard;
let second: SecondMerchant;
let owner: string;
let code: string;
let secondCode: string;
let foreignReference: string;
let keyId: string;
let userId: string;
let invitationId: string;
let endpointId: string;
let deliveryId: string;
let bankAccountId: string;
let payoutReference: string;
let [linkReference, foreignLink] = ['', ''];
let invoiceNumber: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
  owner = await dashboard.cookie(DEMO_OWNER_EMAIL);
  second = await createSecondMerchant(service.db);
  const created = await service.call('POST', '/payments', { amount: 50_000 }, { authorization: bearer(second) });
  foreignReference = created.body.payment.reference_id;
  const newLink = { kind: 'once', title: 'Invoice', amount: 50_000 };
  const foreign = await service.call('POST', '/payment-links', newLink, { authorization: bearer(second) });
  foreignLink = foreign.body.payment_link.reference_id;
  linkReference = (await service.call('POST', '/payment-links', newLink)).body.payment_link.reference_id;
  invoiceNumber = (await insertInvoice(service, service.merchantId)).number;
  const url = 'http://127.0.0.1:9/webhooks';
  const endpoint = { merchantId: service.merchantId, url, events: [] } as const;
  endpointId = (await registerEndpoint(service.db, createSealer(service.masterKey), endpoint)).id;
  await service.call('POST', '/payments', { amount: 50_000 });
  const { rows } = await service.db.query<{ id: string }>('select id from webhook_deliveries where endpoint_id = $1', [
    endpointId,
  ]);
  deliveryId = rows[0]?.id ?? '';
  keyId = (await issueKey(service.db, { merchantId: service.merchantId, environment: 'sandbox' })).id;
  await recordRequests(service.db, [
    {
      requestId: 'recorded-request',
      startedAt: new Date(),
      keyId,
      merchantId: service.merchantId,
      method: 'GET',
      path: '/transactions',
      status: 200,
      durationMs: 5,
      paymentIds: [],
      errorCode: null,
      errorReason: null,
      errorDetail: null,
      ignoredFields: [],
      ignoredParameters: [],
    },
  ]);
  bankAccountId = await prepareBankAccount(service, service.merchantId, 'pending_approval');
  userId = await createMember(service.db, 'walked@shop.test', [[service.merchantId, 'viewer']]);
  await createMember(service.db, 'approver@shop.test', [[service.merchantId, 'finance']]);
  const payouts = await preparePayouts(service, service.merchantId);
  await addLines(payouts, [250_000]);
  payoutReference = (await applyPayout(payouts, [], { by: { name: `user:${randomUUID()}` } })).referenceId;
  const invitation = { merchantId: service.merchantId, email: 'new@shop.test', role: 'viewer' } as const;
  invitationId = (await inviteAt(service.db, { ...invitation, createdBy: 'cli:test' }, new Date())).id;
  [code, secondCode] = [await codeOf(service.merchantId), await codeOf(second.id)];
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});

const bearer = ({ secretKey }: SecondMerchant) => `Bearer ${secretKey}`;

async function codeOf(merchantId: string): Promise<string> {
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [merchantId]);
  return rows[0]?.code ?? '';
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
}

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request with exactly these headers: `fetch` adds some of a browser. */
async function send(path: string, { method = 'GET', headers = {}, form }: Sent = {}): Promise<Received> {
  const body = form === undefined ? '' : new URLSearchParams(form).toString();
  const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const sent = httpRequest(new URL(path, dashboard.url), { method, headers: { ...type, ...headers }, timeout: 20_000 });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

const ENGLISH: readonly [string, string][] = [['language', 'en']];
const OWN_FORM = { 'sec-fetch-site': 'same-origin' };
const post = (
  path: string,
  form: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = OWN_FORM,
) => send(path, { method: 'POST', form, headers: { cookie: owner, ...headers } });

const FILLED = DASHBOARD_ROUTES.filter(({ path }) => path.startsWith('/m/'));
const fill = (path: string, merchant: string, reference: string) =>
  path
    .replace(':code', merchant)
    .replace(':ref', reference)
    .replace(':day', dayInWib(new Date()))
    .replace(':key', keyId)
    .replace(':request', 'recorded-request')
    .replace(':user', userId)
    .replace(':invitation', invitationId)
    .replace(':endpoint', endpointId)
    .replace(':delivery', deliveryId)
    .replace(':account', bankAccountId)
    .replace(':link', linkReference)
    .replace(':number', invoiceNumber);

describe('a form', () => {
  it.each([
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another port', { 'sec-fetch-site': 'same-site' }],
    ['typed into the address bar', { 'sec-fetch-site': 'none' }],
    ['of a foreign origin', { origin: 'https://evil.test' }],
    ['of a hidden origin', { origin: 'null' }],
    ['without an origin', {}],
  ])('%s is not accepted', async (_name, headers) => {
    const before = await count('sessions where ended_at is not null');
    expect((await post('/logout', {}, headers)).status).toBe(403);
    expect(await count('sessions where ended_at is not null')).toBe(before);
  });

  it('a form of this origin works without Sec-Fetch-Site', async () => {
    const own = { cookie: await dashboard.cookie(DEMO_OWNER_EMAIL), origin: dashboard.url };
    const { status, headers } = await send('/logout', { method: 'POST', form: {}, headers: own });
    expect([status, headers.location]).toEqual([303, '/login']);
    const polled = { cookie: own.cookie, 'x-poll': '1' };
    expect((await send(`/m/${code}`, { headers: polled })).status).toBe(401);
  });

  it.each(LANGUAGES)('a form of more than 16 kB gets a page with the reason: %s', async (language) => {
    const headers = { ...OWN_FORM, cookie: '', 'accept-language': language };
    const { status, body } = await post('/login', { email: 'x'.repeat(16 * 1_024) }, headers);
    expect([status, body.includes(DASHBOARD_TEXTS[language].problems.too_large.text)]).toEqual([413, true]);
  });

  it.each(LANGUAGES)('a form that cannot be read gets a page with the reason: %s', async (language) => {
    const headers = { ...OWN_FORM, cookie: '', 'accept-language': language, 'content-encoding': 'unknown' };
    const { status, body } = await post('/login', { email: 'sri@shop.test' }, headers);
    expect([status, body.includes(DASHBOARD_TEXTS[language].problems.not_received.text)]).toEqual([400, true]);
  });

  it('returns to no foreign address after a change of the language', async () => {
    const returning = (address: string) => Object.fromEntries(new URLSearchParams([...ENGLISH, ['then', address]]));
    for (const address of [
      '//evil.test',
      'https://evil.test',
      `/m/${code}/\\evil.test`,
      '/unknown',
      'javascript:alert(1)',
    ]) {
      expect((await post('/language', returning(address))).headers.location).toBe('/');
    }
    const { headers } = await post('/language', returning(`/m/${code}/payments`));
    expect(headers.location).toBe(`/m/${code}/payments`);
  });
});

async function count(relation: string): Promise<number> {
  const { rows } = await service.db.query<{ count: number }>(`select count(*) as count from ${relation}`);
  return rows[0]?.count ?? -1;
}

it('only the configured host is served', async () => {
  for (const host of ['evil.test', '127.0.0.1', new URL(dashboard.url).host.replace('localhost', '127.0.0.1')]) {
    expect([host, (await send(`/m/${code}`, { headers: { cookie: owner, host } })).status]).toEqual([host, 421]);
  }
});

it('every response of a page has the security headers', async () => {
  for (const path of [`/m/${code}`, `/m/${code}/nothing`, '/']) {
    const { headers } = await send(path, { headers: { cookie: owner } });
    if (headers.location !== undefined) continue;
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
  }
});

describe('a development link', () => {
  it('a development link does not work through a proxy, and is not used by the attempt', async () => {
    const path = new URL(await dashboard.link(DEMO_OWNER_EMAIL)).pathname;
    expect((await send(path, { headers: { 'x-forwarded-for': '203.0.113.7' } })).status).toBe(404);
    expect((await send(path, { method: 'HEAD' })).status).toBe(404);
    const { status, headers } = await send(path);
    expect([status, headers.location]).toEqual([303, '/']);
    expect(headers['set-cookie']?.[0]).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
    const { rows } = await service.db.query(
      `select users.email, user_actions.action, outcome from user_actions join user_action_outcomes on action_id = id
         join users on users.id = user_id
       where user_actions.target = (select id::text from sessions order by created_at desc limit 1)`,
    );
    expect(rows).toEqual([{ email: DEMO_OWNER_EMAIL, action: 'session.sign_in', outcome: 'succeeded' }]);
  });

  it('works once: the second use names the command for another', async () => {
    const path = new URL(await dashboard.link(DEMO_OWNER_EMAIL)).pathname;
    await send(path);
    const { status, body } = await send(path);
    expect(status).toBe(410);
    expect(body).toContain('npx lunas users link');
  });
});

/** The merchant has no logo, and no proposal: its page leads to the schedule. A statement needs its days. */
const WITHOUT_CONTENT: Readonly<Record<string, number>> = {
  '/m/:code/settings/checkout/logo.png': 404,
  '/m/:code/payouts/schedule/proposal': 303,
  '/m/:code/balance/statement': 303,
  '/m/:code/balance/statement.csv': 303,
};

describe('who may open a page', () => {
  const respond = async ({ method, path }: (typeof FILLED)[number], cookie: string, merchant: string, ref: string) => {
    const headers = { ...(cookie !== '' && { cookie }), ...(method === 'post' && OWN_FORM) };
    const sent = { method: method.toUpperCase(), headers, ...(method === 'post' && { form: {} }) };
    return (await send(fill(path, merchant, ref), sent)).status;
  };

  it('no page opens without a session', async () => {
    for (const route of FILLED) {
      expect([route.path, await respond(route, '', code, foreignReference)]).toEqual([route.path, 303]);
    }
    const opened = await send(`/m/${code}/payments?group=paid`);
    expect(opened.headers.location).toBe(`/login?then=${encodeURIComponent(`/m/${code}/payments?group=paid`)}`);
    for (const headers of [{ 'x-poll': '1' }, { accept: 'text/event-stream' }, { 'sec-fetch-dest': 'image' }]) {
      expect((await send(`/m/${code}`, { headers })).status).toBe(401);
    }
  });

  it('a member of another merchant: each page is 404', async () => {
    for (const route of FILLED) {
      expect([route.path, await respond(route, owner, secondCode, foreignReference)]).toEqual([route.path, 404]);
    }
  });

  it('the id of a payment of another merchant is 404 on each page', async () => {
    const withReference = FILLED.filter(({ path }) => path.includes(':ref'));
    expect(withReference.length).toBeGreaterThan(8);
    for (const route of withReference) {
      expect([route.path, await respond(route, owner, code, foreignReference)]).toEqual([route.path, 404]);
    }
    expect(
      (await send(`/m/${code}/payments?q=${foreignReference}`, { headers: { cookie: owner } })).body,
    ).not.toContain('role="table"');
  });

  it('a payment link of another merchant is 404 on each page', async () => {
    const withLink = FILLED.filter(({ path }) => path.includes(':link'));
    expect(withLink.length).toBeGreaterThan(3);
    for (const route of withLink) {
      const path = route.path.replace(':link', foreignLink);
      expect([path, await respond({ ...route, path }, owner, code, foreignReference)]).toEqual([path, 404]);
    }
  });

  it.each(MEMBER_ROLES)('%s: 403 exactly where the table of roles denies it', async (role) => {
    const email = `${role}@shop.test`;
    await createMember(service.db, email, [[service.merchantId, role]]);
    const cookie = await dashboard.cookie(email);
    const { referenceId } = await createPage(service);
    for (const route of FILLED.filter(({ method, path }) => method === 'get' && !path.endsWith('/events'))) {
      const { access } = route;
      if (typeof access === 'string') continue;
      const expected = mayAccess(role, access.area, access.level) ? (WITHOUT_CONTENT[route.path] ?? 200) : 403;
      const reference = route.path.includes('/payouts/') ? payoutReference : referenceId;
      expect([role, route.path, await respond(route, cookie, code, reference)]).toEqual([role, route.path, expected]);
    }
    const { body } = await send(`/m/${code}/payments/${referenceId}`, { headers: { cookie } });
    for (const [, href] of body.matchAll(/href="(\/m\/[^"]+)"/g)) {
      expect([role, href, (await send(href ?? '', { headers: { cookie } })).status]).toEqual([role, href, 200]);
    }
  });
});

describe('a new payment', () => {
  it('a new payment is created once, however often the form is sent', async () => {
    const form = { form_id: randomUUID(), amount: '50.000', order: 'A-1' };
    const responses = await Promise.all([0, 1, 2].map(() => post(`/m/${code}/payments/new`, form)));
    expect(responses.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(new Set(responses.map(({ headers }) => headers.location)).size).toBe(1);
    expect(await count("payments where idempotency_key like 'dashboard-%' and merchant_reference_id = 'A-1'")).toBe(1);
  });

  it.each(['', '0', '1,5', '10.000.001', '5e3', '-5', '1.00', '<script>'])('%j is not an amount', async (amount) => {
    const { status, body } = await post(`/m/${code}/payments/new`, { form_id: randomUUID(), amount, order: '"><b>' });
    expect(status).toBe(422);
    expect(body).toContain(DASHBOARD_TEXTS.en.create.errors.amount);
    expect(body).toContain('value="&quot;&gt;&lt;b&gt;"');
  });
});

it('a new link whose bounds are in the other order is corrected beside its field, and not recorded', async () => {
  const bounds = { open: 'on', minimum: '5.001', maximum: '5.000' };
  const form = { form_id: randomUUID(), title: 'Donation', kind: 'reusable', ...bounds };
  const { status, body } = await post(`/m/${code}/links/new`, form);
  expect(status).toBe(422);
  expect(body).toContain(`<a href="#maximum">${LINK_TEXTS.en.rejections.minimum_above_maximum}</a>`);
  expect(await count("user_actions where action = 'payment_link.create'")).toBe(0);
});

it('a new link whose amount is its fee is corrected beside its field', async () => {
  const form = { form_id: randomUUID(), title: 'Sweets', kind: 'once', amount: '1' };
  const { status, body } = await post(`/m/${code}/links/new`, form);
  expect(status).toBe(422);
  expect(body).toContain('<a href="#amount">The amount has to be more than its fee of Rp 1.</a>');
});

it('the button and its form give the same reason', async () => {
  const { referenceId } = await createPage(service);
  const path = `/m/${code}/payments/${referenceId}/refund`;
  const reason = DASHBOARD_TEXTS.en.rejections.not_paid;
  const page = await send(path, { headers: { cookie: owner } });
  const sent = await post(path, { form_id: randomUUID() });
  expect([page.status, sent.status]).toEqual([200, 409]);
  expect(page.body).toContain(reason);
  expect(sent.body).toContain(reason);
});

it('a suspended merchant reads everything and changes nothing', async () => {
  const { referenceId } = await createPage(service);
  await service.db.query("update merchants set status = 'suspended' where id = $1", [service.merchantId]);
  try {
    expect((await send(`/m/${code}/payments`, { headers: { cookie: owner } })).status).toBe(200);
    const cancelled = await post(`/m/${code}/payments/${referenceId}/cancel`);
    const created = await post(`/m/${code}/payments/new`, { form_id: randomUUID(), amount: '5000' });
    expect([cancelled.status, created.status]).toEqual([409, 422]);
    expect(cancelled.body).toContain(DASHBOARD_TEXTS.en.merchantStates.suspended);
  } finally {
    await service.db.query("update merchants set status = 'approved' where id = $1", [service.merchantId]);
  }
});

async function versionOf(paymentId: string): Promise<string> {
  const { rows } = await service.db.query<{ version: number }>('select version from payments where id = $1', [
    paymentId,
  ]);
  return String(rows[0]?.version);
}

it('a payment changes its own actor: the timeline names the user', async () => {
  const { referenceId, paymentId } = await createPage(service);
  const version = await versionOf(paymentId);
  expect((await post(`/m/${code}/payments/${referenceId}/cancel`, { version })).headers.location).toContain(
    'done=cancelled',
  );
  const { rows } = await service.db.query<{ actor: string }>(
    "select actor from payment_transitions where payment_id = $1 and name = 'cancel'",
    [paymentId],
  );
  expect(rows[0]?.actor).toMatch(/^user:/);
  expect((await send(`/m/${code}/payments/${referenceId}`, { headers: { cookie: owner } })).body).toContain(
    'Demo owner',
  );
});

it('the list goes through all payments, in both directions, each once', async () => {
  const merchant = await createSecondMerchant(service.db);
  await service.db.query(
    `insert into payments (id, reference_id, merchant_id, fingerprint, payment_method, provider, provider_account_id,
       amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind,
       settlement_delay_seconds, status, version, expires_at, created_at, updated_at)
     select gen_random_uuid(), 'LN' || upper(substr(md5(n::text), 1, 16)), $1, 'f', 'qris', 'gopay',
       (select id from provider_accounts limit 1), 50000, 350, 50000, 49650, 'merchant',
       (select id from policies limit 1), 'automatic', 0, (array['settled', 'refunded', 'expired'])[1 + n % 3], 2,
       now(), '2026-11-01T00:00:00Z'::timestamptz + n / 20 * interval '1 second', now()
     from generate_series(0, 119) n`,
    [merchant.id],
  );
  await createMember(service.db, 'list@shop.test', [[merchant.id, 'viewer']]);
  const cookie = await dashboard.cookie('list@shop.test');
  const start = `/m/${await codeOf(merchant.id)}/payments`;
  for (const [query, expected] of [
    ['', 120],
    ['?group=paid', 80],
  ] as const) {
    const older = await follow(start + query, 'older', cookie);
    expect([query, older.references.length, new Set(older.references).size]).toEqual([query, expected, expected]);
    const newer = await follow(older.last, 'newer', cookie);
    expect(newer.references.length).toBe(expected);
  }
});

/** The references of all pages in one direction, and the address of the last one. */
async function follow(path: string, direction: 'older' | 'newer', cookie: string) {
  const references: string[] = [];
  for (let address = path, pages = 0; pages < 10; pages += 1) {
    const { body } = await send(address, { headers: { cookie } });
    references.push(...Array.from(body.matchAll(/<code>(LN\w+)<\/code>/g), ([, reference = '']) => reference));
    const next = new RegExp(`href="([^"]*[?;&]${direction}=[^"]*)"`).exec(body)?.[1]?.replaceAll('&amp;', '&');
    if (next === undefined) return { references, last: address };
    address = next;
  }
  throw new Error('The list does not end');
}
