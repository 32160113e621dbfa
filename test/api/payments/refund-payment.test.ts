import { setTimeout as sleep } from 'node:timers/promises';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { createPaid, createPayment, waitForStatus } from '../../support/created-payment';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 1 });
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 3_600 });
});
afterAll(() => service.close());

function refund(id: string, body?: string, contentType = 'application/json') {
  return service.call('POST', `/payments/${id}/refund`, body, { 'content-type': contentType });
}

describe('POST /payments/:id/refund', () => {
  it('200: also while PostgreSQL is ahead of the workflow', async () => {
    const { id, reference_id } = await createPayment(service);
    await service.pay(reference_id, { notify: false });
    // As if a worker dies between its statement and its result to Temporal.
    const context = { db: service.db, environment: 'sandbox', onDeliveries: () => undefined };
    await transitionWriters.pay(context, { paymentId: id, version: 2, at: new Date(), paidAt: new Date() });
    const response = refund(id);
    await sleep(400);
    await service.workflows.signalProviderUpdate(id);
    expect((await response).body).toMatchObject({ payment: { id, status: 'refund_processing' } });
  });

  it('200: is refund_processing, and refunded when the bank has confirmed it, by either id', async () => {
    const first = await createPaid(service);
    const second = await createPaid(service);
    for (const [payment, id] of [
      [first, first.id],
      [second, second.reference_id],
    ] as const) {
      const { status, body } = await refund(id);
      expect(status).toBe(200);
      expect(Object.keys(body.payment)).toEqual([
        'id',
        'reference_id',
        'merchant_reference_id',
        'payment_method_code',
        'currency',
        'amount',
        'fee_amount',
        'net_amount',
        'total_amount',
        'status',
      ]);
      expect(body.payment).toMatchObject({ id: payment.id, status: 'refund_processing', total_amount: 50_000 });
    }
    for (const payment of [first, second]) {
      await waitForStatus(service, payment.id, 'refunded');
      expect((await service.atProvider(payment.reference_id))?.refunds).toMatchObject([
        { amount: 50_000, status: 'confirmed' },
      ]);
    }
  });

  it.each(['', ' ', '{}', '{ }\n', '[]', 'null'])('200: with the empty body %j, of any content type', async (body) => {
    const { id } = await createPaid(service);
    expect((await refund(id, body, 'text/x')).status).toBe(200);
  });

  it.each([
    ['{"amount":1000}', 'application/json'],
    ['{"reason":"rusak"}', 'application/json'],
    ['{"amount":', 'application/json'],
    ['[1000]', 'application/json'],
    ['amount=1000', 'application/x-www-form-urlencoded'],
  ])('400 payment_refund_failed: the body %s, and nothing changes', async (body, contentType) => {
    const { id } = await createPaid(service);
    const rejected = await refund(id, body, contentType);
    expect([rejected.status, rejected.body.error]).toEqual([
      400,
      {
        code: 'payment_refund_failed',
        message: 'A refund is always for the whole amount, Rp 50.000. Send no body.',
      },
    ]);
    expect((await service.call('GET', `/payments/${id}`)).body.payment.status).toBe('paid');
    const { rows } = await service.db.query('select number from refunds where payment_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  it('400 payment_refund_failed: a pending payment, one with a refund, one of shopeepay', async () => {
    const pending = await createPayment(service);
    const processing = await createPaid(service);
    await refund(processing.id);
    const shopeepay = await createPaid(service, { provider: 'shopeepay' });
    for (const [payment, message] of [
      [pending, /"pending" cannot be refunded/],
      [processing, /"refund(_processing|ed)" cannot be refunded/],
      [shopeepay, /shopeepay does not support/],
    ] as const) {
      const { status, body } = await refund(payment.id);
      expect([status, body.error.code]).toEqual([400, 'payment_refund_failed']);
      expect(body.error.message).toMatch(message);
    }
    await waitForStatus(service, processing.id, 'refunded');
    expect((await refund(processing.id)).body.error.message).toMatch(/"refunded" cannot be refunded/);
  });

  it('400 payment_refund_failed: a settled payment, whose workflow is complete', async () => {
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 0 });
    const payment = await createPayment(service);
    await service.pay(payment.reference_id);
    await waitForStatus(service, payment.id, 'settled');
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 3_600 });
    const { status, body } = await refund(payment.id);
    expect([status, body.error.code]).toEqual([400, 'payment_refund_failed']);
    expect(body.error.message).toMatch(/"settled" cannot be refunded/);
  });

  it('404: an unknown payment, and a malformed id', async () => {
    for (const id of ['LN0000000000000000', 'nonsense', '%00']) expect((await refund(id)).status).toBe(404);
  });

  it('twenty concurrent requests: one succeeds, and one refund reaches the provider', async () => {
    const { id, reference_id } = await createPaid(service);
    const responses = await Promise.all(Array.from({ length: 20 }, () => refund(id)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ body }) => body.error?.code === 'payment_refund_failed')).toHaveLength(19);
    await waitForStatus(service, id, 'refunded');
    expect((await service.atProvider(reference_id))?.refunds).toHaveLength(1);
  });

  // Within the 10 s of a request: later the API responds with 500.
  it('forty concurrent requests of all kinds for one payment all get a response below 500 in time', async () => {
    const { id } = await createPaid(service);
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        if (index % 4 === 3) return service.call('GET', `/payments/${id}`);
        return service.call('POST', `/payments/${id}/${index % 4 === 1 ? 'cancel' : 'refund'}`);
      }),
    );
    expect(responses.filter(({ status }) => ![200, 400].includes(status))).toEqual([]);
  });
});
