import { randomUUID } from 'node:crypto';
import { findMerchantRequests, listMerchantRequests } from '../../../src/db/merchants/list-merchant-requests';
import { recordRequests, type CompletedRequest } from '../../../src/db/operations/recorded-requests';
import { REQUEST_TEXTS } from '../../../src/web/dashboard/requests/request-texts';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { explainQueries } from '../../support/explain';
import { issueKey } from '../../support/keys';
import { createMember, createShop } from '../../support/people';
import { createSecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const TEXTS = REQUEST_TEXTS.en;

let service: TestService;
let dashboard: TestDashboard;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});

/** A merchant with a key and a member who may read its requests. */
async function newShop() {
  const shop = await createShop(service.db);
  const email = `${shop.id}@shop.test`;
  await createMember(service.db, email, [[shop.id, 'developer']]);
  const cookie = await dashboard.cookie(email);
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [shop.id]);
  const home = `/m/${rows[0]?.code}/developers/requests`;
  const key = await issueKey(service.db, { merchantId: shop.id, environment: 'sandbox', name: 'Till' });
  const read = async (address: string) => {
    const response = await fetch(dashboard.url + address, { headers: { cookie }, redirect: 'manual' });
    return { status: response.status, body: await response.text() };
  };
  return { id: shop.id, key, home, read };
}

const recorded = (request: Partial<CompletedRequest>): CompletedRequest => ({
  requestId: randomUUID(),
  startedAt: new Date(),
  keyId: null,
  merchantId: null,
  method: 'GET',
  path: '/transactions',
  status: 200,
  durationMs: 7,
  errorCode: null,
  errorReason: null,
  errorDetail: null,
  ignoredFields: [],
  ignoredParameters: [],
  paymentIds: [],
  ...request,
});

/** The ids of the requests on a page, in their order. */
const idsIn = (body: string) =>
  Array.from(body.matchAll(/class="row-link" href="[^"]*\/requests\/([^"]+)"/g), (m) => m[1]);
const olderIn = (body: string) => /href="([^"]*[?;&]older=[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');

it('a request of the API appears with its key, its error and its payment', async () => {
  const { id, key, home, read } = await newShop();
  const as = { authorization: `Bearer ${key.secret}` };
  const [created, rejected] = [randomUUID(), randomUUID()];
  const { body: payment } = await service.call(
    'POST',
    '/payments',
    { amount: 50_000 },
    { ...as, 'x-request-id': created },
  );
  await service.call('POST', '/payments', { amount: -1 }, { ...as, 'x-request-id': rejected });
  const { body } = await eventually(
    () => read(home),
    (page) => idsIn(page.body).length === 2,
  );
  expect(idsIn(body)).toEqual([rejected, created]);
  expect(body).toContain('Till');
  const details = await read(`${home}/${created}`);
  expect(details.body).toContain(payment.payment.reference_id);
  const error = await read(`${home}/${rejected}`);
  expect(error.body).toContain('invalid_amount');
  // The detail of an error is for operators.
  const { rows } = await service.db.query<{ detail: string | null }>(
    'select error_detail as detail from api_requests where request_id = $1 and merchant_id = $2',
    [rejected, id],
  );
  expect(rows).toHaveLength(1);
});

it('a request shows the names that Lunas ignored', async () => {
  const { key, home, read } = await newShop();
  const as = { authorization: `Bearer ${key.secret}` };
  const id = randomUUID();
  const body = { amount: 50_000, callback_url: 'https://shop.example/<b>' };
  await service.call('POST', '/payments?page=2', body, { ...as, 'x-request-id': id });
  const list = await eventually(
    () => read(home),
    (page) => idsIn(page.body).length === 1,
  );
  expect(list.body).toContain(TEXTS.ignored(2));
  const details = await read(`${home}/${id}`);
  expect(details.body).toContain(TEXTS.ignoredHint);
  expect(details.body).toMatch(new RegExp(`${TEXTS.detail.fields}.*callback_url`));
  expect(details.body).toMatch(new RegExp(`${TEXTS.detail.parameters}.*page`));
});

it('the list has each request once, at equal times too, and its filters are in the address', async () => {
  const { id, key, home, read } = await newShop();
  const other = await issueKey(service.db, { merchantId: id, environment: 'sandbox' });
  const atMs = Date.parse('2026-11-20T03:00:00Z');
  const requests = Array.from({ length: 120 }, (_, index) =>
    recorded({
      merchantId: id,
      keyId: index % 2 === 0 ? key.id : other.id,
      startedAt: new Date(atMs + Math.floor(index / 20) * 1_000),
      status: index % 3 === 0 ? 200 : index % 3 === 1 ? 404 : 503,
    }),
  );
  await recordRequests(service.db, requests);
  for (const [query, expected] of [
    ['', 120],
    ['?status=rejected', 40],
    [`?key=${other.id}`, 60],
    [`?key=${other.id}&status=failed`, 20],
    ['?from=2026-11-20&to=2026-11-20', 120],
    ['?from=2026-11-21', 0],
    ['?to=2026-11-19', 0],
  ] as const) {
    const found: (string | undefined)[] = [];
    for (let address: string | undefined = home + query; address !== undefined;) {
      const { status, body } = await read(address);
      expect(status).toBe(200);
      found.push(...idsIn(body));
      address = olderIn(body);
    }
    expect([query, found.length, new Set(found).size]).toEqual([query, expected, expected]);
  }
  const empty = await read(`${home}?from=2026-11-21`);
  expect(empty.body).toContain(TEXTS.noMatch);
});

it('a filter reads the newest 2,000 requests, and the next page continues', async () => {
  const { id, key, home, read } = await newShop();
  const atMs = Date.parse('2026-11-20T03:00:00Z');
  const request = (index: number) =>
    recorded({ merchantId: id, keyId: key.id, startedAt: new Date(atMs + index), status: index === 0 ? 500 : 200 });
  const all = Array.from({ length: 2_001 }, (_, index) => request(index));
  await recordRequests(service.db, all);
  const first = await read(`${home}?status=failed`);
  expect([idsIn(first.body), first.body.includes(TEXTS.limited)]).toEqual([[], true]);
  const second = await read(olderIn(first.body) ?? '');
  expect([idsIn(second.body), second.body.includes(TEXTS.limited)]).toEqual([[all[0]?.requestId], false]);
});

it('a merchant sees no request of another one, nor a key or payment of it', async () => {
  const { home, read } = await newShop();
  const second = await createSecondMerchant(service.db);
  const as = { authorization: `Bearer ${second.secretKey}`, 'x-request-id': randomUUID() };
  await service.call('POST', '/payments', { amount: 50_000 }, as);
  await eventually(
    () => service.db.query('select from api_requests where request_id = $1', [as['x-request-id']]),
    ({ rows }) => rows.length === 1,
  );
  const list = await read(home);
  expect([list.status, list.body.includes(TEXTS.nothing), idsIn(list.body)]).toEqual([200, true, []]);
  expect((await read(`${home}/${as['x-request-id']}`)).status).toBe(404);
  const { rows } = await service.db.query<{ id: string }>('select id from api_keys where merchant_id = $1', [
    second.id,
  ]);
  expect(idsIn((await read(`${home}?key=${rows[0]?.id}`)).body)).toEqual([]);
});

it('an id that callers have used twice shows the newest, and the earlier one below', async () => {
  const { id, key, home, read } = await newShop();
  const request = { requestId: 'same', merchantId: id, keyId: key.id };
  await recordRequests(service.db, [
    recorded({ ...request, path: '/first' }),
    recorded({ ...request, path: '/second' }),
  ]);
  const { body } = await read(`${home}/same`);
  expect(body.indexOf('/second')).toBeLessThan(body.indexOf(TEXTS.detail.earlier));
  expect(body.indexOf('/first')).toBeGreaterThan(body.indexOf(TEXTS.detail.earlier));
});

it.each([
  ['status=unknown', TEXTS.errors.class],
  ['key=1', TEXTS.errors.key],
  ['from=yesterday', TEXTS.errors.day],
  ['from=2026-11-21&to=2026-11-20', TEXTS.errors.order],
  ['older=1', TEXTS.errors.cursor],
  ['older=9999999999999999-1', TEXTS.errors.cursor],
])('%s is not a filter', async (query, message) => {
  const { home, read } = await newShop();
  const { status, body } = await read(`${home}?${query}`);
  expect([status, body.includes(message)]).toEqual([422, true]);
});

it('a page of 100,000 requests reads less than 200 buffers', async () => {
  const { id, key } = await newShop();
  await service.db.query(
    `insert into api_requests (request_id, started_at, key_id, merchant_id, method, path, status, duration_ms)
     select 'bulk-' || n, '2026-11-01T00:00:00Z'::timestamptz + n * interval '1 second', $2, $1, 'GET', '/transactions',
       200, 5
     from generate_series(1, 100000) n`,
    [id, key.id],
  );
  await service.db.query('vacuum analyze api_requests');
  const { db, explained } = explainQueries(service.db, 10);
  const filter = { merchantId: id, statuses: null, keyId: null, from: null, to: null, olderThan: null };
  const from = new Date('2026-11-01T10:00:00Z');
  await listMerchantRequests(db, filter, 50);
  await listMerchantRequests(db, { ...filter, from, to: new Date(from.getTime() + 3_600_000) }, 50);
  await listMerchantRequests(db, { ...filter, statuses: [500, 599] }, 50);
  await listMerchantRequests(db, { ...filter, olderThan: { startedAt: from, id: 1 }, keyId: randomUUID() }, 50);
  await findMerchantRequests(db, id, 'bulk-5');
  expect(explained).toHaveLength(10);
  expect(explained.filter(({ buffers }) => buffers >= 200)).toEqual([]);
});
