import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { eventually } from '../support/eventually';
import type { TestService } from '../support/service';
import { startTimeSkippingService, type TimeSkippingService } from '../support/time-skipping-service';

const DAY_MS = 86_400_000;

let timeSkipping: TimeSkippingService;
let service: TestService;

beforeAll(async () => {
  timeSkipping = await startTimeSkippingService();
  service = timeSkipping.service;
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: (3 * DAY_MS) / 1_000 });
});

afterAll(() => timeSkipping.close());

beforeEach(() => service.clearFaults());

describe('a payment', () => {
  it('settles three days after it is paid', async () => {
    const { id, reference_id } = await timeSkipping.createPayment();
    await service.pay(reference_id);
    await timeSkipping.waitForStatus(id, 'paid');
    const startedMs = Date.now();
    expect(await timeSkipping.runToEnd(id, 'settled')).toBe('settled');
    expect(Date.now() - startedMs).toBeLessThan(DAY_MS);
    const [, , paid, settled] = await timeSkipping.transitions(id);
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'pay', 'settle']);
    expect((settled?.at ?? 0) - (paid?.at ?? 0)).toBeGreaterThanOrEqual(3 * DAY_MS);
    expect((settled?.at ?? 0) - (paid?.at ?? 0)).toBeLessThan(3 * DAY_MS + 60_000);
  });

  it('expires at its deadline, not earlier, and at the provider too', async () => {
    const { id, reference_id, expires_at } = await timeSkipping.createPayment();
    expect(await timeSkipping.runToEnd(id, 'expired')).toBe('expired');
    const [, , expired] = await timeSkipping.transitions(id);
    expect(expired?.name).toBe('expire');
    expect(expired?.at).toBeGreaterThanOrEqual(Date.parse(expires_at));
    expect(await service.atProvider(reference_id)).toMatchObject({ status: 'expire', charge_calls: 1 });
  });

  it('stays pending until its deadline if the clock of the provider runs ahead', async () => {
    const { id, reference_id, expires_at } = await timeSkipping.createPayment();
    expect(Date.parse(expires_at) % 1_000).toBe(0);
    const expired = await fetch(`${service.sandboxUrl}/v2/${reference_id}/expire`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${SANDBOX_SERVER_KEY}:`).toString('base64')}` },
    });
    expect(await expired.json()).toMatchObject({ transaction_status: 'expire' });
    await service.workflows.signalProviderUpdate(id);
    expect(await timeSkipping.runToEnd(id)).toBe('expired');
    expect((await timeSkipping.transitions(id)).at(-1)?.at).toBeGreaterThanOrEqual(Date.parse(expires_at));
  });

  it('a payment is paid if the customer paid in time and no notification arrived', async () => {
    const { id, reference_id } = await timeSkipping.createPayment();
    await service.pay(reference_id, { notify: false });
    expect(await timeSkipping.runToEnd(id, 'paid-without-notification')).toBe('settled');
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'pay', 'settle']);
  });

  it('a payment is cancelled by a signal from the Web UI', async () => {
    const { id, reference_id } = await timeSkipping.createPayment();
    await timeSkipping.environment.client.workflow.getHandle(`payment-${id}`).signal('cancel');
    expect(await timeSkipping.runToEnd(id, 'cancelled')).toBe('cancelled');
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'cancel']);
    expect(await service.atProvider(reference_id)).toMatchObject({ status: 'cancel' });
  });

  it('continues on another worker after the first one stopped', async () => {
    const { id, reference_id } = await timeSkipping.createPayment();
    await service.stopWorker();
    await service.pay(reference_id);
    await eventually(
      () => service.atProvider(reference_id),
      (payment) => payment?.status === 'settlement',
    );
    await service.startWorker();
    await timeSkipping.waitForStatus(id, 'paid');
    await service.stopWorker();
    await service.startWorker();
    expect(await timeSkipping.runToEnd(id, 'worker-replaced')).toBe('settled');
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'pay', 'settle']);
  });

  it('fails with payment_create_failed if the provider rejects the order', async () => {
    await service.injectFault('charge', 'reject', 1);
    const { status, body } = await service.call('POST', '/payments', { amount: 50_000 });
    expect(status).toBe(400);
    expect(body.error.code).toBe('payment_create_failed');
    const { rows } = await service.db.query("select id from payments where status = 'failed'");
    expect(rows).toHaveLength(1);
    expect(await timeSkipping.runToEnd(rows[0].id, 'rejected')).toBe('failed');
    expect(await service.transitionsOf(rows[0].id)).toEqual(['create', 'fail_creation']);
  });

  it.each(['accept_then_reset', 'http_500', 'half_body', 'reset'] as const)(
    'a payment is charged once if the charge ends with %s',
    async (kind) => {
      await service.injectFault('charge', kind, 1);
      const { reference_id, id } = await timeSkipping.createPayment();
      expect((await service.call('GET', `/payments/${id}`)).body.payment.status).toBe('pending');
      expect(await service.atProvider(reference_id)).toMatchObject({ status: 'pending', charge_calls: 1 });
      expect(await service.transitionsOf(id)).toEqual(['create', 'issue']);
    },
  );

  it('a payment is confirmed once the provider responds again', async () => {
    const { id, reference_id } = await timeSkipping.createPayment();
    await service.injectFault('status', 'http_500', 3);
    await service.pay(reference_id);
    // The sandbox notifies in real time, so the server must not skip time before that.
    await timeSkipping.waitForStatus(id, 'paid');
    expect(await timeSkipping.runToEnd(id, 'provider-indeterminate-while-paid')).toBe('settled');
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'pay', 'settle']);
  });

  it('fails if the provider never responds, and has no order that can be paid', async () => {
    await service.injectFault('charge', 'http_500', 10_000);
    const before = new Set((await service.db.query('select id from payments')).rows.map(({ id }) => id));
    const response = service.call('POST', '/payments', { amount: 50_000 });
    const created = await eventually(
      async () =>
        (await service.db.query('select id, reference_id from payments')).rows.find(({ id }) => !before.has(id)),
      (row) => row !== undefined,
    );
    expect(await timeSkipping.runToEnd(created.id, 'failed-unissued')).toBe('failed');
    expect(await service.transitionsOf(created.id)).toEqual(['create', 'fail_creation']);
    expect(await service.atProvider(created.reference_id)).toBeUndefined();
    expect([400, 500]).toContain((await response).status);
  });

  it.each([
    ['expires the order at the provider', false, 'expire', undefined],
    ['refunds the order as a late payment if it was paid', true, 'refund', 'refunded'],
  ])('a payment whose charge becomes visible after it failed %s', async (_what, isPaid, atProvider, late) => {
    await service.injectFault('charge', 'accept_then_timeout', 10_000);
    await service.injectFault('status', 'http_500', 10_000);
    const before = new Set((await service.db.query('select id from payments')).rows.map(({ id }) => id));
    const response = service.call('POST', '/payments', { amount: 50_000 });
    const { id, reference_id } = await eventually(
      async () =>
        (await service.db.query('select id, reference_id from payments')).rows.find(({ id }) => !before.has(id)),
      (row) => row !== undefined,
    );
    await eventually(
      () => service.atProvider(reference_id),
      (order) => order !== undefined,
    );
    if (isPaid) await service.pay(reference_id, { notify: false });
    const workflow = service.client.workflow.getHandle(`payment-${id}`);
    await eventually(
      async () => {
        await timeSkipping.clock.advanceToNextTimer();
        return (await workflow.describe()).raw.pendingActivities?.[0]?.activityType?.name;
      },
      (name) => name === 'failUnissuedPayment',
    );
    await service.clearFaults();
    expect(await timeSkipping.runToEnd(id)).toBe('failed');
    expect([400, 500]).toContain((await response).status);
    await eventually(
      () => service.atProvider(reference_id),
      (order) => order?.status === atProvider,
    );
    const { rows } = await eventually(
      () => service.db.query('select status from late_payments where payment_id = $1', [id]),
      ({ rows }) => rows[0]?.status === late,
    );
    expect(rows).toHaveLength(isPaid ? 1 : 0);
    expect(await service.atProvider(reference_id)).toMatchObject({ charge_calls: expect.any(Number) });
  });
});
