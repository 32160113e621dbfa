import { API_ERRORS, type ApiErrorCode } from '../../src/domain/errors';
import { createKey } from '../../src/services/merchants/keys';
import { createMerchant } from '../../src/services/merchants/merchants';
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
async function newKey({ approve = true, allowedNetworks = [] as string[] } = {}) {
  const merchant = { name: 'Toko', feePayer: 'merchant', providers: ['gopay'], approve } as const;
  const { id: merchantId } = await createMerchant(service.db, merchant);
  return createKey(service.db, { merchantId, allowedNetworks, environment: 'sandbox' });
}

/** The contract's table: every code with its status and a request that provokes it. */
const TABLE: Record<ApiErrorCode, readonly [status: number, provoke: () => Promise<ApiResponse>]> = {
  invalid_json: [400, () => post('{"amount":')],
  invalid_amount: [400, () => post({ amount: 0 })],
  invalid_bulk_size: [400, () => post({ payments: [] })],
  unsupported_payment_method: [400, () => post({ amount: 20_000, payment_method: 'card' })],
  payment_create_failed: [400, () => post({ amount: 20_000, currency: 'USD' })],
  payment_cancel_failed: [400, async () => service.call('POST', `/payments/${await newPayment('shopeepay')}/cancel`)],
  payment_refund_failed: [400, async () => service.call('POST', `/payments/${await newPayment()}/refund`)],
  invalid_api_key: [401, () => list('sk_test_unknown')],
  merchant_not_approved: [403, async () => list((await newKey({ approve: false })).secret)],
  api_key_ip_not_allowed: [403, async () => list((await newKey({ allowedNetworks: ['203.0.113.0/24'] })).secret)],
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

describe('the error codes of the contract', () => {
  it('are exactly the codes of the table', () => {
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
      `The request could not be processed; try again later (${headers.get('x-request-id')}).`,
    );
  });
});
