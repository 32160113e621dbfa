import { insertMerchant } from '../../../src/services/merchants/merchants';
import { issueKey } from '../../support/keys';
import { seedPayments } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
let payment: { id: string; reference_id: string; qris_payload: string; qris_image_url: string; expires_at: string };
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  payment = (await service.call('POST', '/payments', { amount: 25_000 })).body.payment;
});
afterAll(() => service.close());

describe('GET /payments/:id/qris', () => {
  it('200: returns the QR of the creation, by either id', async () => {
    const byId = await service.call('GET', `/payments/${payment.id}/qris`);
    expect([byId.status, Object.keys(byId.body), Object.keys(byId.body.qris)]).toEqual([
      200,
      ['qris'],
      ['payload', 'image_url', 'checkout_url', 'expires_at'],
    ]);
    expect(byId.body.qris).toEqual({
      payload: payment.qris_payload,
      image_url: payment.qris_image_url,
      checkout_url: expect.stringMatching(/\/pay\/[\w-]{43}$/),
      expires_at: payment.expires_at,
    });
    expect((await service.call('GET', `/payments/${payment.reference_id}/qris`)).text).toBe(byId.text);
    expect((await fetch(byId.body.qris.image_url)).status).toBe(200);
  });

  it.each(['created', 'failed'])(
    '404 not_found: a transaction that is %s has no QR, and the message contains the status',
    async (status) => {
      const none = { count: 100, from: '2026-11-01T00:00:00Z', rareOneIn: 3, sameReference: 3 };
      await seedPayments(service.db, service.merchantId, none);
      const { rows } = await service.db.query('select id, reference_id from payments where status = $1 limit 1', [
        status,
      ]);
      for (const id of [rows[0].id, rows[0].reference_id]) {
        const response = await service.call('GET', `/payments/${id}/qris`);
        expect([response.status, response.body.error]).toEqual([
          404,
          { code: 'not_found', message: `This transaction is ${status} and has no QR code.` },
        ]);
      }
    },
  );

  it.each(['LN0000000000000000', '01935b6c-7c00-7000-8000-000000000000', 'nonsense', '%E0%A4%A', '..%2f..'])(
    '404 not_found: %s',
    async (id) => {
      const { status, body } = await service.call('GET', `/payments/${id}/qris`);
      expect([status, body.error.code]).toEqual([404, 'not_found']);
    },
  );

  it("404 not_found: another merchant's transaction, by either id", async () => {
    const other = { name: 'Other', feePayer: 'merchant', providers: ['gopay'], approve: true } as const;
    const { id: merchantId } = await insertMerchant(service.db, other);
    const { secret } = await issueKey(service.db, { merchantId, environment: 'sandbox', allowedNetworks: [] });
    for (const id of [payment.id, payment.reference_id]) {
      const response = await service.call('GET', `/payments/${id}/qris`, undefined, {
        authorization: `Bearer ${secret}`,
      });
      expect([response.status, response.body.error.message]).toEqual([
        404,
        expect.stringMatching(/^There is no such transaction\. .*merchant_reference_id=… finds it/),
      ]);
    }
  });

  it('401 invalid_api_key: the QR is not public by its id', async () => {
    const { status } = await service.call('GET', `/payments/${payment.id}/qris`, undefined, { authorization: '' });
    expect(status).toBe(401);
  });
});
