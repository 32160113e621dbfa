import { randomUUID } from 'node:crypto';
import { buildDocument } from '../../src/api/openapi/document';
import { MERCHANT_ENDPOINTS } from '../../src/servers/api-routes';
import { valueAt } from '../support/contract';
import { eventually } from '../support/eventually';
import { newNamespace, startTestService, type ApiResponse, type TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

const post = (body: unknown, path = '/payments') => service.call('POST', path, body);
const get = (path: string) => service.call('GET', path);

const fieldsOf = ({ headers }: ApiResponse) => headers.get('x-ignored-fields');
const parametersOf = ({ headers }: ApiResponse) => headers.get('x-ignored-parameters');

describe('X-Ignored-Fields', () => {
  it('X-Ignored-Fields is missing if each field is known', async () => {
    const customer = { name: 'Siti', loyalty: 'gold' };
    const response = await post({ amount: 20_000, customer, metadata: { cart: 'x1' }, merchant_reference_id: 'O-1' });
    expect([response.status, fieldsOf(response), parametersOf(response)]).toEqual([201, null, null]);
  });

  it('names the fields of a creation that no rule reads, and none of their values', async () => {
    const body = { amount: 20_000, payment_method_code: 'va_bca', expiry_minutes: 5, idempotency_key: 'secret-value' };
    const created = await post(body);
    expect([created.status, fieldsOf(created)]).toEqual([201, 'payment_method_code, expiry_minutes, idempotency_key']);
  });

  it('names them in a rejection and in a replay', async () => {
    const rejected = await post({ amuont: 20_000 });
    expect([rejected.status, fieldsOf(rejected)]).toEqual([400, 'amuont']);
    const replay = () =>
      service.call('POST', '/payments', { amount: 20_000, ttl: 1 }, { 'idempotency-key': 'ignored-1' });
    expect([fieldsOf(await replay()), fieldsOf(await replay())]).toEqual(['ttl', 'ttl']);
  });

  it('names those of a bulk once for all items, and what counts in a single creation only', async () => {
    const item = { amount: 20_000, provider: 'gopay', callback_url: 'https://shop.example' };
    const single = { amount: 1, expires_in: 0, return_url: 'x', description: '' };
    const response = await post({ ...single, payments: [item, item, { amount: 30_000, note: 'x', expires_in: 60 }] });
    expect([response.status, fieldsOf(response)]).toEqual([
      201,
      'amount, expires_in, return_url, description, payments[].provider, payments[].callback_url, payments[].note',
    ]);
  });

  it('names the fields of a cancel, whose body is not needed', async () => {
    const { id } = (await post({ amount: 20_000 })).body.payment;
    const cancelled = await post({ reason: 'changed my mind' }, `/payments/${id}/cancel`);
    expect([cancelled.status, fieldsOf(cancelled)]).toEqual([200, 'reason']);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const asForm = await service.call('POST', `/payments/${id}/cancel`, '{"note":1}', form);
    expect(fieldsOf(asForm)).toBe('note');
    const again = await service.call('POST', `/transactions/${id}/cancel`, 'no JSON', { 'content-type': 'text/plain' });
    expect([again.status, again.headers.get('x-error-reason'), fieldsOf(again)]).toEqual([
      400,
      'status_not_cancellable',
      null,
    ]);
  });

  it('attack: is short, and shows no text that is no name', async () => {
    const names = [
      'siti@example.com',
      'a b',
      'x\r\nset-cookie: a=1',
      '__proto__',
      'é',
      `sk_test_${'a'.repeat(39)}`,
      '',
    ];
    const many = Array.from({ length: 500 }, (_, index) => `field_${index}`);
    const text = (all: readonly string[]) =>
      `{"amount":20000,${all.map((name) => `${JSON.stringify(name)}:1`).join()}}`;
    const json = { 'content-type': 'application/json' };
    const odd = await service.call('POST', '/payments', text(names), json);
    expect([odd.status, fieldsOf(odd)]).toEqual([201, '__proto__, ...']);
    const long = await service.call('POST', '/payments', text(many), json);
    expect(fieldsOf(long)).toBe(`${many.slice(0, 10).join(', ')}, ...`);
  });
});

describe('X-Ignored-Parameters', () => {
  it('names the parameters that the endpoint does not have', async () => {
    const list = await get('/transactions?page=2&status=paid&starting_after=x&expand[]=qris');
    expect([list.status, parametersOf(list)]).toEqual([200, 'page, starting_after, expand[]']);
    const { id } = (await post({ amount: 20_000 }, '/payments?expand=qris&notify=no')).body.payment;
    expect(parametersOf(await get(`/payments/${id}/qris?size=300`))).toBe('size');
    expect(parametersOf(await get(`/payments/${id}?expand=refund`))).toBeNull();
    expect(parametersOf(await post(undefined, `/payments/${id}/refund?amount=1000`))).toBe('amount');
  });

  it('names them in a rejection, but not without an accepted key', async () => {
    const rejected = await get('/transactions?status=done&page=2');
    expect([rejected.status, parametersOf(rejected)]).toEqual([400, 'page']);
    expect(parametersOf(await get('/payments/LN0000000000000000?page=2'))).toBe('page');
    const unknown = await service.call('GET', '/transactions?page=2', undefined, { authorization: 'Bearer x' });
    expect([unknown.status, parametersOf(unknown)]).toEqual([401, null]);
  });

  it('names a limit that is no number, and not one that is clamped', async () => {
    expect(parametersOf(await get('/transactions?limit=ten'))).toBe('limit');
    expect(parametersOf(await get('/transactions?limit=1000'))).toBeNull();
  });
});

it('the record of a request has the names', async () => {
  const id = randomUUID();
  await service.call('POST', '/payments?page=2', { amount: 20_000, ttl: 1 }, { 'x-request-id': id });
  const { rows } = await eventually(
    () => service.db.query('select ignored_fields, ignored_parameters from api_requests where request_id = $1', [id]),
    ({ rows }) => rows.length === 1,
  );
  expect(rows).toEqual([{ ignored_fields: ['ttl'], ignored_parameters: ['page'] }]);
});

it('the OpenAPI document has the headers where they can occur', () => {
  const document: unknown = JSON.parse(JSON.stringify(buildDocument(MERCHANT_ENDPOINTS)));
  const headersOf = (path: string, method: string, status: string) =>
    Object.keys(Object(valueAt(document, ['paths', path, method, 'responses', status, 'headers']))).filter((name) =>
      name.startsWith('X-Ignored'),
    );
  const both = ['X-Ignored-Fields', 'X-Ignored-Parameters'];
  expect(headersOf('/payments', 'post', '201')).toEqual(both);
  expect(headersOf('/payments', 'post', '400')).toEqual(both);
  expect(headersOf('/payments/{id}/cancel', 'post', '200')).toEqual(both);
  expect(headersOf('/transactions', 'get', '200')).toEqual(['X-Ignored-Parameters']);
  expect(headersOf('/transactions', 'get', '401')).toEqual([]);
});
