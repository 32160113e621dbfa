import { randomUUID } from 'node:crypto';
import { createSealer } from '../../src/crypto/sealing';
import { ROUTES } from '../../src/servers/api-routes';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { createPaid, createPayment } from '../support/created-payment';
import { eventually } from '../support/eventually';
import { startReceiver, type Receiver } from '../support/receiver';
import { createSecondMerchant, type SecondMerchant } from '../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { registerEndpoint } from '../support/webhooks';

/** What merchant B attempts with the payments of merchant A. */
type Attack =
  /** The path names a payment. B gets the response of a payment that does not exist. */
  | 'payment'
  /** A list. B sees none of A's, by any filter. */
  | 'list'
  /** A creation that repeats A's idempotency key and order id. B gets a payment of its own. */
  | 'create'
  /** test/api/webhook-stream has its test: B's stream has no event of A. */
  | 'stream'
  /** The path has a token or id that is not a payment's. B gets the response of one that does not exist. */
  | 'token'
  /** B's key is not valid here. */
  | 'operator'
  /** The endpoints of payment links. B sees none of A's, closes none, and makes one of its own. */
  | 'link'
  /** The same for every caller. */
  | 'constant';

/** Each route of both listeners. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  'post /payments': 'create',
  'get /payments/:id': 'payment',
  'get /payments/:id/qris': 'payment',
  'post /payments/:id/cancel': 'payment',
  'post /transactions/:id/cancel': 'payment',
  'post /payments/:id/refund': 'payment',
  'get /transactions': 'list',
  'post /payment-links': 'link',
  'get /payment-links': 'link',
  'get /payment-links/:id': 'link',
  'post /payment-links/:id/close': 'link',
  'get /webhooks/stream': 'stream',
  'get /qris/:file': 'token',
  'get /pay/:token': 'token',
  'get /pay/:token/events': 'token',
  'get /pay/:token/qris.png': 'token',
  'get /pay/:token/receipt.png': 'token',
  'get /link/:token': 'token',
  'post /link/:token': 'token',
  'get /sandbox/checkout/:reference/:transaction': 'token',
  'get /checkout/:file': 'constant',
  'get /checkout/logos/:file': 'token',
  'post /provider-notifications/:account': 'token',
  'get /openapi.json': 'constant',
  'get /': 'constant',
  'get /docs': 'constant',
  'get /docs/search': 'constant',
  'get /docs/search/results': 'constant',
  'get /docs/:page': 'constant',
  'get /docs/api/:page': 'constant',
  'get /docs/files/:file': 'constant',
  'get /llms.txt': 'constant',
  'get /healthz': 'constant',
  'get /readyz': 'constant',
  'get /operator/payments/:id': 'operator',
  'post /operator/payments/:id/settle': 'operator',
  'post /operator/payments/:id/fail': 'operator',
  'post /operator/payments/:id/cancel': 'operator',
  'post /operator/payments/:id/refund': 'operator',
  'post /operator/payments/:id/refund/retry': 'operator',
  'post /operator/payments/:id/refund/resolve': 'operator',
  'post /operator/merchants/:id/hold': 'operator',
  'post /operator/merchants/:id/release': 'operator',
  'get /operator/exceptions': 'operator',
  'post /operator/exceptions/:id/resolve': 'operator',
  'post /operator/deliveries/:id/redeliver': 'operator',
  'get /operator/actions': 'operator',
  'get /operator/payouts': 'operator',
  'get /operator/payouts/:id': 'operator',
  'post /operator/payouts/:id/approve': 'operator',
  'post /operator/payouts/:id/cancel': 'operator',
  'post /operator/payouts/:id/resend': 'operator',
  'post /operator/payouts/:id/resolve': 'operator',
  'post /operator/payouts/start': 'operator',
  'post /operator/payouts/stop': 'operator',
};

const routesOf = (attack: Attack) => ROUTES.filter(({ method, path }) => ATTACKS[`${method} ${path}`] === attack);

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const ORDER = 'ORDER-OF-A';
const KEY = 'key-of-A';

interface Payment {
  readonly id: string;
  readonly reference_id: string;
  readonly created_at: string;
}

interface IdForm {
  readonly of: (payment: Payment) => string;
  /** An id of no payment, in this form. */
  readonly unknown: string;
}

const UNKNOWN_ID = '01935b6c-7c00-7000-8000-0000000000ff';
const ID_FORMS: Readonly<Record<string, IdForm>> = {
  id: { of: ({ id }) => id, unknown: UNKNOWN_ID },
  'id in capitals': { of: ({ id }) => id.toUpperCase(), unknown: UNKNOWN_ID.toUpperCase() },
  reference_id: { of: (payment) => payment.reference_id, unknown: 'LN0000000000000000' },
  'reference_id in small letters': {
    of: (payment) => payment.reference_id.toLowerCase(),
    unknown: 'ln0000000000000000',
  },
  'reference_id, percent-encoded': {
    of: (payment) => payment.reference_id.replace('L', '%4C'),
    unknown: '%4CN0000000000000000',
  },
  'id with a slash at the end': { of: ({ id }) => `${id}/`, unknown: `${UNKNOWN_ID}/` },
  'id of the workflow': { of: ({ id }) => `payment-${id}`, unknown: `payment-${UNKNOWN_ID}` },
  'order id of the merchant': { of: () => ORDER, unknown: 'ORDER-OF-NO-MERCHANT' },
};

/** What merchant A requests. */
const OF_A = { merchant_reference_id: ORDER, customer: { name: 'Customer of A' } };

let service: TestService;
let receivers: Readonly<Record<'a' | 'b', Receiver>>;
let b: SecondMerchant;
/** The payments of merchant A, by status. */
let payments: Readonly<Record<string, Payment>>;

beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 3_600 });
  const policy = { provider: 'gopay', channel: 'qris', settlementKind: 'manual', settlementDelaySeconds: 0 } as const;
  await setPolicy(service.db, policy);
  b = await createSecondMerchant(service.db);
  receivers = { a: await startReceiver(), b: await startReceiver() };
  const sealer = createSealer(service.masterKey);
  const common = { events: [], environment: 'sandbox' } as const;
  await registerEndpoint(service.db, sealer, { ...common, merchantId: service.merchantId, url: receivers.a.url });
  await registerEndpoint(service.db, sealer, { ...common, merchantId: b.id, url: receivers.b.url });
  const [cancelled, refunding] = [
    await createPayment(service, OF_A, { 'idempotency-key': 'cancelled' }),
    await createPaid(service, OF_A, { 'idempotency-key': 'refunding' }),
  ];
  await service.call('POST', `/payments/${cancelled.id}/cancel`);
  await service.call('POST', `/payments/${refunding.id}/refund`);
  payments = {
    pending: await createPayment(service, OF_A, { 'idempotency-key': KEY }),
    paid: await createPaid(service, OF_A, { 'idempotency-key': 'paid' }),
    refund_processing: refunding,
    cancelled,
  };
});
afterAll(async () => {
  await service.close();
  await receivers.a.close();
  await receivers.b.close();
});

/** Everything that is recorded of merchant A's payments. */
async function recorded(): Promise<unknown> {
  const tables = ['payments', 'payment_transitions', 'ledger_postings', 'refunds', 'webhook_events'];
  const ids = Object.values(payments).map(({ id }) => id);
  const rows = tables.map(async (table) => {
    const key = table === 'payments' ? 'id' : 'payment_id';
    const { rows } = await service.db.query(`select * from ${table} where ${key} = any($1) order by 1, 2, 3`, [ids]);
    return [table, rows];
  });
  return Promise.all(rows);
}

/** The headers that differ between two equal requests. */
const VARYING_HEADERS = new Set(['date', 'x-request-id', 'ratelimit-remaining', 'ratelimit-reset']);

/** A request of merchant B, and all of the response that B can compare. */
async function requestByB(method: string, url: string, body?: object) {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${b.secretKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  const headers = [...response.headers].filter(([name]) => !VARYING_HEADERS.has(name));
  return { status: response.status, headers, text: await response.text() };
}

it('each route has its attack', () => {
  expect(Object.keys(ATTACKS).toSorted()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted());
});

describe.each(Object.entries(ID_FORMS))('attack: merchant B names payments of merchant A by %s', (_form, form) => {
  const paths = new Set(routesOf('payment').map(({ path }) => path));

  it.each([...paths])('%s: by each method the response is that of an unknown one', async (path) => {
    const before = await recorded();
    for (const method of METHODS) {
      const unknown = await requestByB(method, service.apiUrl + path.replace(':id', form.unknown));
      expect(unknown.status).toBe(404);
      for (const [status, payment] of Object.entries(payments)) {
        const given = await requestByB(method, service.apiUrl + path.replace(':id', form.of(payment)));
        expect({ method, status, given }).toEqual({ method, status, given: unknown });
      }
    }
    expect(await recorded()).toEqual(before);
  });
});

it.each(['id', 'id in capitals', 'reference_id', 'reference_id, percent-encoded'])(
  'control: the paths of the attacks lead merchant A to its payment, by %s',
  async (name) => {
    const [form, paid] = [ID_FORMS[name], payments['paid']];
    if (!form || !paid) throw new Error(`There is no ${name}`);
    for (const { method, path } of routesOf('payment').filter(({ path }) => !path.endsWith('/refund'))) {
      // A paid payment cannot be cancelled.
      const { status } = await service.call(method.toUpperCase(), path.replace(':id', form.of(paid)));
      expect([path, status]).toEqual([path, method === 'get' ? 200 : 400]);
    }
  },
);

describe('attack: merchant B lists transactions', () => {
  it('a filter or a cursor of merchant A shows none of its transactions', async () => {
    const page = await service.call('GET', '/transactions?limit=1');
    const cursor = /cursor=([^&>]+)/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    expect(cursor).not.toBe('');
    const { created_at } = payments['pending'] ?? { created_at: '' };
    const queries = [
      '',
      'limit=100',
      `cursor=${cursor}`,
      `merchant_reference_id=${ORDER}`,
      `search=${ORDER}`,
      `search=${ORDER.slice(0, 3).toLowerCase()}`,
      `search=${payments['pending']?.reference_id}`,
      'search=50000',
      `merchant_id=${service.merchantId}`,
      `merchantId=${service.merchantId}&merchant=${service.merchantId}`,
      `created_from=${created_at}&created_to=${created_at}`,
      ...Object.keys(payments).map((status) => `status=${status}`),
      'provider=gopay',
    ];
    for (const query of queries) {
      for (const { path } of routesOf('list')) {
        const { status, text } = await requestByB('GET', `${service.apiUrl}${path}?${query}`);
        expect([query, status, text]).toEqual([query, 200, '{"transactions":[]}']);
      }
    }
  });
});

describe('attack: merchant B uses the payment links of merchant A', () => {
  const terms = { kind: 'once', title: 'Invoice of A', amount: 50_000, merchant_reference_id: ORDER };
  const make = (headers: Readonly<Record<string, string>>) => service.call('POST', '/payment-links', terms, headers);

  it('sees none, closes none, and makes one of its own with the same idempotency key', async () => {
    const { payment_link: link } = (await make({ 'idempotency-key': KEY })).body;
    const own = await make({ 'idempotency-key': KEY, authorization: `Bearer ${b.secretKey}` });
    expect(own).toMatchObject({ status: 201, body: { payment_link: { id: expect.not.stringContaining(link.id) } } });
    const ofId = routesOf('link').filter(({ path }) => path.includes(':id'));
    expect(ofId).toHaveLength(2);
    for (const { method, path } of ofId) {
      for (const [given, unknown] of [
        [link.id, UNKNOWN_ID],
        [link.reference_id, 'LK0000000000000000'],
      ]) {
        const request = (id: string) => requestByB(method.toUpperCase(), service.apiUrl + path.replace(':id', id));
        expect(await request(given)).toEqual({ ...(await request(unknown)), status: 404 });
      }
    }
    const { text } = await requestByB('GET', `${service.apiUrl}/payment-links?merchant_id=${service.merchantId}`);
    expect(text).not.toContain(link.id);
    const { body } = await service.call('GET', `/payment-links/${link.id}`);
    expect(body).toMatchObject({ payment_link: { id: link.id, status: 'active' } });
  });
});

describe('attack: merchant B creates with the idempotency key and the order id of merchant A', () => {
  it('gets a payment of its own, and those of A do not change', async () => {
    const before = await recorded();
    for (const { path } of routesOf('create')) {
      const body = { amount: 50_000, merchant_reference_id: ORDER, customer: { name: 'Customer of A' } };
      const headers = { 'idempotency-key': KEY, authorization: `Bearer ${b.secretKey}` };
      const created = await service.call('POST', path, body, headers);
      expect([created.status, created.headers.get('idempotency-replayed')]).toEqual([201, null]);
      expect(created.body.payment.id).not.toBe(payments['pending']?.id);
      expect(created.body.payment.reference_id).not.toBe(payments['pending']?.reference_id);
      const { rows } = await service.db.query('select merchant_id from payments where id = $1', [
        created.body.payment.id,
      ]);
      expect(rows).toEqual([{ merchant_id: b.id }]);
    }
    expect(await recorded()).toEqual(before);
  });
});

describe('attack: merchant B uses ids of merchant A instead of a token', () => {
  it.each(routesOf('token').map(({ method, path }) => [method, path]))('%s %s', async (method, path) => {
    const before = await recorded();
    const attempt = (text: string) =>
      requestByB(method, service.apiUrl + path.replace(/:\w+/, text), method === 'post' ? {} : undefined);
    for (const { id, reference_id } of Object.values(payments)) {
      const idBytes = Buffer.from(id.replaceAll('-', ''), 'hex');
      const [short, forged] = [idBytes, Buffer.concat([idBytes, Buffer.alloc(16)])].map((bytes) =>
        bytes.toString('base64url'),
      );
      for (const text of [id, reference_id, short, forged, service.merchantId]) {
        for (const end of ['', '.png', '.svg']) {
          const unknown = await attempt(randomUUID() + end);
          expect(unknown.status).toBe(404);
          expect(await attempt(`${text}${end}`)).toEqual(unknown);
        }
      }
    }
    expect(await recorded()).toEqual(before);
  });
});

describe('attack: merchant B calls the routes of operators', () => {
  const routes = routesOf('operator').map(({ method, path }) => [method, path] as const);

  it.each(routes)('%s %s: the same response for a payment of A and an unknown one', async (method, path) => {
    const before = await recorded();
    const body = method === 'post' ? { note: 'attack' } : undefined;
    const id = path.startsWith('/operator/merchants') ? service.merchantId : (payments['paid']?.id ?? '');
    const [known, unknown] = [path.replace(':id', id), path.replace(':id', UNKNOWN_ID)];
    const rejected = await requestByB(method, service.operatorUrl + known, body);
    expect([rejected.status, JSON.parse(rejected.text).error.code]).toEqual([401, 'invalid_api_key']);
    expect(await requestByB(method, service.operatorUrl + unknown, body)).toEqual(rejected);
    const notPublic = await requestByB(method, service.apiUrl + known, body);
    expect(notPublic.status).toBe(404);
    expect(await requestByB(method, service.apiUrl + unknown, body)).toEqual(notPublic);
    expect(await recorded()).toEqual(before);
  });
});

describe('routes that are the same for every caller', () => {
  it.each(routesOf('constant').map(({ path }) => path))('%s names no payment', async (path) => {
    const { text } = await requestByB('GET', service.apiUrl + path);
    for (const { id, reference_id } of Object.values(payments)) {
      expect(text).not.toContain(id);
      expect(text).not.toContain(reference_id);
    }
  });
});

describe('webhooks of merchant A', () => {
  it('go to its own endpoint, and none to that of merchant B', async () => {
    await eventually(
      async () => (await service.db.query("select from webhook_deliveries where status = 'pending'")).rowCount,
      (open) => open === 0,
    );
    const ids = Object.values(payments).map(({ id }) => id);
    const idsAt = ({ received }: Receiver) => new Set(received.map(({ body }) => body['id']));
    expect(idsAt(receivers.a)).toEqual(new Set(ids));
    expect(receivers.b.received.length).toBeGreaterThan(0);
    expect(ids.filter((id) => idsAt(receivers.b).has(id))).toEqual([]);
  });
});
