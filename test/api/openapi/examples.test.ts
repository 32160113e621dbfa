import { z } from 'zod';
import { buildDocument } from '../../../src/api/openapi/document';
import { MERCHANT_ENDPOINTS } from '../../../src/servers/api-routes';
import { changeMerchant } from '../../../src/services/merchants/merchants';
import { createPaid, createPayment } from '../../support/created-payment';
import { issueKey, revokeAsOperator } from '../../support/keys';
import { createSecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type ApiResponse, type TestService } from '../../support/service';

/** The examples of the document are what the service sends, besides ids, times, tokens and the signed payload. */

const contentSchema = z.object({
  'application/json': z.object({ examples: z.record(z.string(), z.object({ value: z.unknown() })) }),
});
const operationSchema = z.looseObject({
  requestBody: z.object({ content: contentSchema }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: contentSchema.optional() })),
});
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  webhooks: z.record(z.string(), z.object({ post: operationSchema })),
});
const document = documentSchema.parse(JSON.parse(JSON.stringify(buildDocument(MERCHANT_ENDPOINTS))));

function examplesOf(operation: unknown, status?: string): Record<string, unknown> {
  const { requestBody, responses } = operationSchema.parse(operation);
  const content = status === undefined ? requestBody?.content : responses[status]?.content;
  const examples = content?.['application/json'].examples ?? {};
  return Object.fromEntries(Object.entries(examples).map(([name, { value }]) => [name, normalised(value)]));
}

const operation = (method: string, path: string) => document.paths[path]?.[method];

/** What differs from payment to payment, in order of precedence. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/^000201.*6304[0-9A-F]{4}$/, 'a QRIS payload'],
  [/^https?:\/\/[^/]+\/(qris|pay)\/[\w-]+(\.png)?$/, 'https://…/$1/…$2'],
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'a time'],
  [/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'an id'],
  [/^LN[0-9A-Z]{16,}$/, 'a reference'],
];

function normalised(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, leaf: unknown) => {
    if (typeof leaf !== 'string') return leaf;
    const [pattern, replacement] = VARYING.find(([pattern]) => pattern.test(leaf)) ?? [];
    return pattern && replacement !== undefined ? leaf.replace(pattern, replacement) : leaf;
  });
}

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 3_600 });
});
afterAll(() => service.close());

async function send(method: string, path: string, body?: unknown): Promise<unknown> {
  return normalised((await service.call(method, path, body)).body);
}

const [single, bulk] = Object.values(
  z.object({ requestBody: z.object({ content: contentSchema }) }).parse(operation('post', '/payments')).requestBody
    .content['application/json'].examples,
).map(({ value }) => z.record(z.string(), z.unknown()).parse(value));

describe('the examples of the document', () => {
  it('the examples of creations are what the service sends', async () => {
    expect({
      'one transaction': await send('POST', '/payments', single),
      'a bulk': await send('POST', '/payments', bulk),
    }).toEqual(examplesOf(operation('post', '/payments'), '201'));
  });

  it('the examples of reads are what the service sends', async () => {
    const { id } = await createPaid(service, single);
    expect(await send('GET', `/payments/${id}`)).toEqual(
      examplesOf(operation('get', '/payments/{id}'), '200')['a paid transaction'],
    );
    expect(await send('GET', `/payments/${id}/qris`)).toEqual(
      examplesOf(operation('get', '/payments/{id}/qris'), '200')['a QR'],
    );
    expect(await send('GET', '/transactions?status=paid&limit=1')).toEqual(
      examplesOf(operation('get', '/transactions'), '200')['a page'],
    );
  });

  it.each(['/payments', '/transactions'])('the examples of cancels at %s are what the service sends', async (path) => {
    const { id: pendingId } = await createPayment(service, single);
    const { id: paidId } = await createPaid(service, single);
    await service.call('POST', `/payments/${paidId}/refund`);
    expect({
      'a pending transaction': await send('POST', `${path}/${pendingId}/cancel`),
      'a refund': await send('POST', `${path}/${paidId}/cancel`),
    }).toEqual(examplesOf(operation('post', `${path}/{id}/cancel`), '200'));
  });

  it('the examples of refunds are what the service sends', async () => {
    const { id } = await createPaid(service, single);
    expect({ 'a refund in progress': await send('POST', `/payments/${id}/refund`) }).toEqual(
      examplesOf(operation('post', '/payments/{id}/refund'), '200'),
    );
  });

  it('the examples of webhooks are what the service sends', async () => {
    const { id } = await createPaid(service, single);
    const { rows } = await service.db.query<{ body: string }>(
      "select body from webhook_events where payment_id = $1 and event = 'payment.paid'",
      [id],
    );
    const examples = examplesOf(document.webhooks['payment.paid']?.post);
    expect({ 'payment.paid': normalised(JSON.parse(rows[0]?.body ?? '')) }).toEqual(examples);
  });

  it('the examples of errors are what the service sends', async () => {
    const { id } = await createPayment(service, single);
    await service.call('POST', `/payments/${id}/cancel`);
    const create = (body: unknown) => service.call('POST', '/payments', body);
    const errors = await errorsOf({
      invalid_json: () => create('{"amount":50000,"amount":75000}'),
      invalid_parameter: () => service.call('GET', '/transactions?cursor=nonsense'),
      invalid_amount: () => create({ amount: 0 }),
      invalid_bulk_size: () => create({ payments: [] }),
      unsupported_payment_method: () => create({ amount: 50_000, payment_method: 'card' }),
      payment_create_failed: () => create({ amount: 1_000_402 }),
      payment_cancel_failed: () => service.call('POST', `/payments/${id}/cancel`),
      payment_refund_failed: () => service.call('POST', `/payments/${id}/refund`),
      invalid_api_key: () => asKey('sk_test_0'),
      api_key_ip_not_allowed: () => withOwnKey({ allowedNetworks: ['203.0.113.0/24'] }),
      merchant_not_approved: withSuspendedMerchant,
      scope_not_allowed: () => withOwnKey({ scopes: ['create'] }),
      not_found: () => service.call('GET', '/payments/LN0000000000000000'),
    });
    const documented = Object.values(document.paths).flatMap((path) =>
      Object.values(path).flatMap((operation) => {
        const parsed = operationSchema.safeParse(operation);
        const statuses = Object.keys(parsed.data?.responses ?? {}).filter((status) => status >= '400');
        return statuses.flatMap((status) => Object.entries(examplesOf(operation, status)));
      }),
    );
    expect(Object.keys(Object.fromEntries(documented)).toSorted()).toEqual(
      [...Object.keys(errors), 'rate_limited', 'server_error'].toSorted(),
    );
    expect(errors).toEqual(Object.fromEntries(documented.filter(([code]) => code in errors)));
  });
});

const asKey = (secretKey: string) =>
  service.call('GET', '/transactions', undefined, { authorization: `Bearer ${secretKey}` });

async function withOwnKey(
  restriction: Pick<Parameters<typeof issueKey>[1], 'scopes' | 'allowedNetworks'>,
): Promise<ApiResponse> {
  const { merchantId } = service;
  const key = await issueKey(service.db, { merchantId, environment: 'sandbox', ...restriction });
  const response = await asKey(key.secret);
  await revokeAsOperator(service.db, key.id);
  return response;
}

async function withSuspendedMerchant(): Promise<ApiResponse> {
  const { id, secretKey } = await createSecondMerchant(service.db);
  await changeMerchant(service.db, id, { status: 'suspended' });
  return asKey(secretKey);
}

async function errorsOf(
  requests: Readonly<Record<string, () => Promise<ApiResponse>>>,
): Promise<Record<string, unknown>> {
  const errors: [string, unknown][] = [];
  for (const [code, request] of Object.entries(requests)) errors.push([code, (await request()).body]);
  return Object.fromEntries(errors);
}
