import { createSecretKey } from '../../src/crypto/secret-key';
import { API_ERRORS, ERROR_REASONS, type ApiErrorCode, type ErrorReason } from '../../src/domain/errors';
import type { MerchantScope } from '../../src/domain/key-access';
import { insertMerchant } from '../../src/services/merchants/merchants';
import { eventually } from '../support/eventually';
import { issueKey } from '../support/keys';
import { newNamespace, startTestService, type ApiResponse, type TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

const LIMIT = 1_000_000;
const post = (body: unknown, headers?: Record<string, string>) => service.call('POST', '/payments', body, headers);
const list = (secret: string) => service.call('GET', '/transactions', undefined, { authorization: `Bearer ${secret}` });

async function newPayment(provider = 'gopay'): Promise<string> {
  return (await post({ amount: 20_000, provider })).body.payment.id;
}

/** A key of a merchant of its own. */
async function newKey({
  approve = true,
  allowedNetworks = [] as string[],
  scopes = null as MerchantScope[] | null,
} = {}) {
  const merchant = { name: 'Toko', feePayer: 'merchant', providers: ['gopay'], approve } as const;
  const { id: merchantId } = await insertMerchant(service.db, merchant);
  return issueKey(service.db, { merchantId, allowedNetworks, environment: 'sandbox', ...(scopes && { scopes }) });
}

/** Every code with its status and a request that provokes it. */
const TABLE: Record<ApiErrorCode, readonly [status: number, provoke: () => Promise<ApiResponse>]> = {
  invalid_json: [400, () => post('{"amount":')],
  invalid_parameter: [400, () => service.call('GET', '/transactions?status=done')],
  invalid_amount: [400, () => post({ amount: 0 })],
  invalid_bulk_size: [400, () => post({ payments: [] })],
  unsupported_payment_method: [400, () => post({ amount: 20_000, payment_method: 'card' })],
  payment_create_failed: [400, () => post({ amount: 20_000, currency: 'USD' })],
  payment_cancel_failed: [400, async () => service.call('POST', `/payments/${await newPayment('shopeepay')}/cancel`)],
  payment_refund_failed: [400, async () => service.call('POST', `/payments/${await newPayment()}/refund`)],
  invalid_api_key: [401, () => list('sk_test_unknown')],
  merchant_not_approved: [403, async () => list((await newKey({ approve: false })).secret)],
  api_key_ip_not_allowed: [403, async () => list((await newKey({ allowedNetworks: ['203.0.113.0/24'] })).secret)],
  scope_not_allowed: [403, async () => list((await newKey({ scopes: ['create'] })).secret)],
  not_found: [404, () => service.call('GET', '/payments/LN0000000000000000')],
  rate_limited: [
    429,
    async () => {
      const { merchantId, secret } = await newKey();
      await service.db.query('insert into rate_limits values ($1, $2, $3)', [merchantId, LIMIT, Date.now() + 60_000]);
      return list(secret);
    },
  ],
  server_error: [
    500,
    async () => {
      await service.db.query('alter table payments rename to away');
      const response = await service.call('GET', '/transactions');
      await service.db.query('alter table away rename to payments');
      return response;
    },
  ],
};

const asKey = (authorization: string) => service.call('GET', '/transactions', undefined, { authorization });
const createTwice = async (first: object, second: object) => {
  const key = { 'idempotency-key': `order-${Math.random()}` };
  await post(first, key);
  return post(second, key);
};

const cancelTwice = async () => {
  const path = `/payments/${await newPayment()}/cancel`;
  await service.call('POST', path);
  return service.call('POST', path);
};

/** Requests of other tests reach a limit, wait for 10 s, or need an archive. */
type ProvokedElsewhere =
  | 'body_too_late'
  | 'provider_unavailable'
  | 'idempotency_key_archived'
  | 'payment_archived'
  | 'qr_unavailable'
  | 'refund_limit'
  | 'key_rate'
  | 'network_rate'
  | 'failed_keys'
  | 'creates_in_flight'
  | 'connections_open'
  | 'streams_open';

const REASONS: Record<Exclude<ErrorReason, ProvokedElsewhere | 'refund_submitted'>, () => Promise<ApiResponse>> = {
  body_not_json: () => post('{"amount":'),
  body_too_large: () => post({ amount: 20_000, metadata: { text: 'x'.repeat(64 * 1_024) } }),
  amount_invalid: () => post({ amount: '20000' }),
  total_too_large: () => buyerPays({ amount: 10_000_000 }),
  payment_method_unknown: () => post({ amount: 20_000, payment_method: 'card' }),
  payment_method_inactive: () => asMerchant('payment_method_active = false', { amount: 20_000 }),
  field_invalid: () => post({ amount: 20_000, currency: 'USD' }),
  fee_reaches_amount: () => post({ amount: 1 }),
  return_url_not_allowed: () => post({ amount: 20_000, return_url: 'https://other.example/' }),
  idempotency_key_invalid: () => post({ amount: 20_000 }, { 'idempotency-key': 'x'.repeat(256) }),
  idempotency_key_reused: () => createTwice({ amount: 20_000 }, { amount: 30_000 }),
  provider_not_enabled: () => asMerchant("providers = '{}'", { amount: 20_000 }),
  provider_rejected: () => post({ amount: 1_000_402 }),
  provider_cannot_cancel: () => TABLE.payment_cancel_failed[1](),
  status_not_cancellable: () => cancelTwice(),
  provider_cannot_refund: async () => service.call('POST', `/payments/${await newPayment('shopeepay')}/refund`),
  status_not_refundable: () => TABLE.payment_refund_failed[1](),
  refund_not_whole: async () => service.call('POST', `/payments/${await newPayment()}/refund`, { amount: 1_000 }),
  key_missing: () => asKey(''),
  key_not_bearer: () => asKey('Basic abc'),
  key_of_other_environment: () => asKey(`Bearer ${createSecretKey('production', '00').secret}`),
  key_unknown: () => asKey('Bearer sk_test_unknown'),
  merchant_pending: async () => list((await newKey({ approve: false })).secret),
  merchant_suspended: () => asMerchant("status = 'suspended'", { amount: 20_000 }),
  path_unknown: () => service.call('GET', '/v1/payments'),
  method_unknown: () => service.call('GET', '/payments'),
  payment_unknown: () => service.call('GET', '/payments/ORDER-1042'),
  payment_link_unknown: () => service.call('GET', '/payment-links/LK0000000000000000'),
  merchant_rate: () => TABLE.rate_limited[1](),
};

/** Creates a payment of a merchant with another column. */
async function asMerchant(change: string, body: object): Promise<ApiResponse> {
  const { secret, merchantId } = await newKey();
  await service.db.query(`update merchants set ${change} where id = $1`, [merchantId]);
  return service.call('POST', '/payments', body, { authorization: `Bearer ${secret}` });
}

const buyerPays = (body: object) => asMerchant("fee_payer = 'buyer'", body);

describe('the reasons', () => {
  it.each(Object.entries(REASONS))('%s', async (reason, provoke) => {
    const { headers, body } = await provoke();
    expect(headers.get('x-error-reason')).toBe(reason);
    expect(ERROR_REASONS).toHaveProperty([reason, 'code'], body.error.code);
  });

  it('name the methods of an address, and the way to an order ID', async () => {
    const { headers, status, body } = await REASONS.method_unknown();
    expect([status, headers.get('allow')]).toEqual([404, 'POST']);
    expect(body.error.message).toMatch(
      /^This address takes POST, and not GET\. The list is GET \/transactions\. The documents are at http.*\/docs\.$/,
    );
    const other = await service.call('GET', '/transactions/LN0123456789ABCDEF');
    expect(other.body.error.message).toMatch(
      /^There is no such address\. One transaction is GET \/payments\/:id\. The documents are at /,
    );
    const reused = await REASONS.idempotency_key_reused();
    expect(reused.body.error.message).toMatch(/other contents\. Use a new key\.$/);
    expect((await REASONS.payment_unknown()).body.error.message).toContain('merchant_reference_id');
  });
});

it('a refund that is with the provider has the reason refund_submitted', async () => {
  const own = await startTestService(await newNamespace(), { refundHoldSeconds: 1 });
  try {
    const body = JSON.stringify({ refund_confirms_after_seconds: 600 });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${own.sandboxUrl}/simulator/bank`, { method: 'PUT', headers, body });
    const { id, reference_id } = (await own.call('POST', '/payments', { amount: 20_000 })).body.payment;
    await own.pay(reference_id);
    const refund = () => own.call('POST', `/payments/${id}/refund`);
    await eventually(refund, ({ status }) => status === 200);
    const submitted = 'select from refunds where payment_id = $1 and submitted_at is not null';
    await eventually(
      () => own.db.query(submitted, [id]),
      ({ rowCount }) => rowCount === 1,
    );
    const cancelled = await own.call('POST', `/payments/${id}/cancel`);
    expect([cancelled.status, cancelled.headers.get('x-error-reason')]).toEqual([400, 'refund_submitted']);
  } finally {
    await own.close();
  }
});

describe('a replay', () => {
  it('a replay has the current status of the payment beside the original response', async () => {
    const key = { 'idempotency-key': 'replayed' };
    const { body, headers } = await post({ amount: 20_000 }, key);
    expect(headers.get('x-payment-status')).toBeNull();
    await service.call('POST', `/payments/${body.payment.id}/cancel`);
    const replay = await post({ amount: 20_000 }, key);
    expect(replay.body).toEqual(body);
    expect(replay.headers.get('x-payment-status')).toBe('cancelled');
  });
});

describe('the error codes', () => {
  it('the error codes are exactly the codes of the table', () => {
    expect(Object.keys(API_ERRORS)).toEqual(Object.keys(TABLE));
  });

  it.each(Object.entries(TABLE))('%s', async (code, [status, provoke]) => {
    const response = await provoke();
    expect(response.status).toBe(status);
    expect(response.body).toEqual({ error: { code, message: expect.stringMatching(/^\S.*\.$/) } });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('server_error shows the id of the request and nothing internal', async () => {
    const { body, headers } = await TABLE.server_error[1]();
    expect(body.error.message).toBe(
      `The request could not be processed (${headers.get('x-request-id')}). Try again later.`,
    );
  });

  it('server_error of a create has the way to repeat it', async () => {
    await service.db.query('alter table policies rename to away');
    const repeatable = await post({ amount: 20_000 }, { 'idempotency-key': 'ORDER-1042-1' });
    const without = await post({ amount: 20_000 });
    const bulk = await post({ payments: [{ amount: 20_000, idempotency_key: 'ORDER-1042-1' }] });
    await service.db.query('alter table away rename to policies');
    expect([repeatable.status, without.status, bulk.status]).toEqual([500, 500, 500]);
    expect(repeatable.body.error.message).toMatch(/ repeat the request with the same Idempotency-Key\.$/);
    expect(bulk.body.error.message).toMatch(/ repeat the request with the same idempotency_key of each item\.$/);
    expect(without.body.error.message).toMatch(/ no Idempotency-Key, .* look for it in GET \/transactions first\.$/);
  });
});
