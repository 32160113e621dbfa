import { createPayment, statusOf } from '../../support/created-payment';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

function cancel(id: string, path = 'payments') {
  return service.call('POST', `/${path}/${id}/cancel`);
}

describe('POST /payments/:id/cancel', () => {
  it.each(['payments', 'transactions'])('200: /%s cancels here and at the provider, by either id', async (path) => {
    const payment = await createPayment(service);
    const { status, body } = await cancel(path === 'payments' ? payment.id : payment.reference_id, path);
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
      'cancelled_at',
    ]);
    expect(body.payment).toMatchObject({ id: payment.id, status: 'cancelled', cancelled_at: expect.any(String) });
    expect(await service.atProvider(payment.reference_id)).toMatchObject({ status: 'cancel' });
    expect(await service.transitionsOf(payment.id)).toEqual(['create', 'issue', 'cancel']);
  });

  it('200: with any body and content type', async () => {
    const { id } = await createPayment(service);
    const { status } = await service.call('POST', `/payments/${id}/cancel`, 'x'.repeat(600_000), {
      'content-type': 'text/plain',
    });
    expect(status).toBe(200);
  });

  it('400 payment_cancel_failed: a paid payment, a cancelled one, and one of shopeepay', async () => {
    const paid = await createPayment(service);
    await service.pay(paid.reference_id);
    await eventually(
      () => statusOf(service, paid.id),
      (status) => status === 'paid',
    );
    const cancelled = await createPayment(service);
    await cancel(cancelled.id);
    const shopeepay = await createPayment(service, { provider: 'shopeepay' });
    for (const [payment, message] of [
      [paid, /paid/],
      [cancelled, /cancelled/],
      [shopeepay, /shopeepay does not support/],
    ] as const) {
      const { status, body } = await cancel(payment.id);
      expect([status, body.error.code]).toEqual([400, 'payment_cancel_failed']);
      expect(body.error.message).toMatch(message);
    }
    expect(await statusOf(service, shopeepay.id)).toBe('pending');
  });

  it('400: if the customer paid first without a notification, the payment becomes paid', async () => {
    const { id, reference_id } = await createPayment(service);
    await service.pay(reference_id, { notify: false });
    const { status, body } = await cancel(id);
    expect([status, body.error.code]).toEqual([400, 'payment_cancel_failed']);
    expect(await statusOf(service, id)).toBe('paid');
  });

  it('404: an unknown payment, and a malformed id', async () => {
    for (const id of ['LN0000000000000000', 'nonsense']) expect((await cancel(id)).status).toBe(404);
  });

  it('forty concurrent requests: one cancels, the others are rejected with the reason', async () => {
    const { id } = await createPayment(service);
    const responses = await Promise.all(Array.from({ length: 40 }, () => cancel(id)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(39);
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'cancel']);
  });

  it('against the customer: the provider decides, and both sides have the same status', async () => {
    const stories: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const { id, reference_id } = await createPayment(service);
      const [response] = await Promise.all([cancel(id), service.pay(reference_id).catch(() => undefined)]);
      const status = await eventually(
        () => statusOf(service, id),
        (now) => now !== 'pending',
      );
      stories.push(`${response.status}, ${status} here, ${(await service.atProvider(reference_id))?.status} there`);
    }
    // The sandbox accepts payments of a cancelled order, as acquirers do: a late payment, not tested here.
    const coherent = new Set([
      '200, cancelled here, cancel there',
      '200, cancelled here, settlement there',
      '400, paid here, settlement there',
    ]);
    expect(stories.filter((story) => !coherent.has(story))).toEqual([]);
  });
});
