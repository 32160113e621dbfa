import { createSealer } from '../../src/crypto/sealing';
import { insertOperator } from '../../src/services/identity/operators';
import { listKeys } from '../../src/services/merchants/keys/api-key';
import { addAccount } from '../../src/services/provider-accounts/provider-accounts';
import { errorMessage } from '../providers/midtrans/published-messages';
import { startScriptedMidtrans, type ScriptedMidtrans } from '../providers/midtrans/scripted-midtrans';
import { createPaid, createPayment } from '../support/created-payment';
import { issueKey } from '../support/keys';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { registerEndpoint } from '../support/webhooks';

let service: TestService;
let operatorKey: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 60 });
  ({ secret: operatorKey } = await insertOperator(service.db, { name: 'dewi', environment: 'sandbox' }));
});
afterAll(() => service.close());

async function showPayment(id: string) {
  const headers = { authorization: `Bearer ${operatorKey}` };
  return (await service.callOperator('GET', `/operator/payments/${id}`, undefined, headers)).body;
}

describe('the history of a payment', () => {
  it('names the key of the merchant that cancelled or refunded it', async () => {
    const access = { merchantId: service.merchantId, environment: 'sandbox' } as const;
    const [clerk, robot] = [await issueKey(service.db, access), await issueKey(service.db, access)];
    const request = (path: string, { secret }: { secret: string }) =>
      service.call('POST', path, undefined, { authorization: `Bearer ${secret}` });
    const [cancelled, refunded] = [await createPayment(service), await createPaid(service)];

    expect((await request(`/payments/${cancelled.id}/cancel`, clerk)).status).toBe(200);
    expect((await request(`/payments/${refunded.id}/refund`, robot)).status).toBe(200);
    expect((await request(`/payments/${refunded.id}/cancel`, clerk)).status).toBe(200);

    expect((await showPayment(cancelled.id)).transitions.at(-1)).toMatchObject({
      name: 'cancel',
      actor: `key:${clerk.id}`,
    });
    expect((await showPayment(refunded.id)).transitions.slice(-2)).toMatchObject([
      { name: 'request_refund', actor: `key:${robot.id}` },
      { name: 'cancel_refund', actor: `key:${clerk.id}` },
    ]);
    expect((await listKeys(service.db, service.merchantId)).map(({ id }) => id)).toContain(clerk.id);
  });
});

describe('the URL of a webhook', () => {
  it('operators see the URL of a webhook without its path and query, which contain secrets', async () => {
    const SECRET = 'hook-token-4711';
    const { id: endpointId } = await registerEndpoint(service.db, createSealer(service.masterKey), {
      merchantId: service.merchantId,
      url: `http://127.0.0.1:9/${SECRET}?key=${SECRET}`,
      events: ['payment.created'],
    });
    const { id } = await createPayment(service);
    const shown = await showPayment(id);
    expect(shown.deliveries).toMatchObject([{ endpoint_id: endpointId, url: 'http://127.0.0.1:9/…' }]);
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });
});

describe('a rejection that concerns our provider account', () => {
  const WORDS = 'The account of PT Lunas (M004711) is suspended';
  let midtrans: ScriptedMidtrans;
  beforeAll(async () => {
    midtrans = await startScriptedMidtrans();
    await service.db.query(`update provider_accounts set status = 'disabled'`);
    await addAccount(service.db, createSealer(service.masterKey), {
      provider: 'gopay',
      adapter: 'midtrans',
      serverKey: 'SB-Mid-server-x',
      weight: 1,
      baseUrl: midtrans.url,
      environment: 'sandbox',
    });
  });
  afterAll(() => midtrans.close());

  it.each(['401', '402', '403', '410', '411'])(
    '%s: the merchant gets one sentence, and operators the words of the acquirer',
    async (code) => {
      midtrans.respondWith(errorMessage(code, WORDS));
      const { status, text, body } = await service.call('POST', '/payments', { amount: 50_000 });
      expect([status, body.error]).toEqual([
        400,
        {
          code: 'payment_create_failed',
          message: 'The transaction could not be created: the provider rejected it.',
        },
      ]);
      expect(text).not.toMatch(/4711|account|suspended/);
      const { rows } = await service.db.query<{ id: string }>(
        'select id from payments order by created_at desc, id desc limit 1',
      );
      expect((await showPayment(rows[0]?.id ?? '')).transitions.at(-1)).toMatchObject({
        name: 'fail_creation',
        actor: 'provider',
        note: `${code} ${WORDS}`,
      });
    },
  );
});
