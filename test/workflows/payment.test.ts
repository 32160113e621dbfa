import { setPolicy } from '../../src/operator/catalog';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/server-key';
import { cancelSignal } from '../../workflows/messages';
import { openLives, type Lives } from '../support/lives';
import type { TestService } from '../support/service';
import { until } from '../support/until';

const DAY_MS = 86_400_000;

let lives: Lives;
let service: TestService;

beforeAll(async () => {
  lives = await openLives();
  service = lives.service;
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: (3 * DAY_MS) / 1_000 });
});

afterAll(() => lives.close());

beforeEach(() => lives.clearFaults());

describe('a payment', () => {
  it('is paid, waits three days, and settles', async () => {
    const { id, reference_id } = await lives.createPayment();
    await service.pay(reference_id);
    await lives.becomes(id, 'paid');
    const startedMs = Date.now();
    expect(await lives.end(id, 'settled')).toBe('settled');
    expect(Date.now() - startedMs).toBeLessThan(DAY_MS);
    const [, , paid, settled] = await lives.stepsOf(id);
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'pay', 'settle']);
    expect((settled?.at ?? 0) - (paid?.at ?? 0)).toBeGreaterThanOrEqual(3 * DAY_MS);
    expect((settled?.at ?? 0) - (paid?.at ?? 0)).toBeLessThan(3 * DAY_MS + 60_000);
  });

  it('expires unpaid, not before its time, and with the provider', async () => {
    const { id, reference_id, expires_at } = await lives.createPayment();
    expect(await lives.end(id, 'expired-v2')).toBe('expired');
    const [, , expired] = await lives.stepsOf(id);
    expect(expired?.name).toBe('expire');
    expect(expired?.at).toBeGreaterThanOrEqual(Date.parse(expires_at));
    expect(await service.atProvider(reference_id)).toMatchObject({ status: 'expire', charge_calls: 1 });
  });

  it('is not expired early by a provider whose clock runs ahead', async () => {
    const { id, reference_id, expires_at } = await lives.createPayment();
    expect(Date.parse(expires_at) % 1_000).toBe(0);
    const expired = await fetch(`${service.sandboxUrl}/v2/${reference_id}/expire`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${SANDBOX_SERVER_KEY}:`).toString('base64')}` },
    });
    expect(await expired.json()).toMatchObject({ transaction_status: 'expire' });
    await service.engine.reportPaid(id);
    expect(await lives.end(id)).toBe('expired');
    expect((await lives.stepsOf(id)).at(-1)?.at).toBeGreaterThanOrEqual(Date.parse(expires_at));
  });

  it('counts as paid when the customer was in time and nobody told us', async () => {
    const { id, reference_id } = await lives.createPayment();
    await service.pay(reference_id, { notify: false });
    expect(await lives.end(id, 'paid-unnoticed')).toBe('settled');
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'pay', 'settle']);
  });

  it('is cancelled by an operator in the Web UI as by its merchant', async () => {
    const { id, reference_id } = await lives.createPayment();
    await lives.environment.client.workflow.getHandle(`payment-${id}`).signal(cancelSignal);
    expect(await lives.end(id, 'cancelled')).toBe('cancelled');
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'cancel']);
    expect(await service.atProvider(reference_id)).toMatchObject({ status: 'cancel' });
  });

  it('goes on with another worker where the first one stopped', async () => {
    const { id, reference_id } = await lives.createPayment();
    await service.stopWorker();
    await service.pay(reference_id);
    await until(
      () => service.atProvider(reference_id),
      (payment) => payment?.status === 'settlement',
    );
    await service.startWorker();
    await lives.becomes(id, 'paid');
    await service.stopWorker();
    await service.startWorker();
    expect(await lives.end(id, 'worker-replaced')).toBe('settled');
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'pay', 'settle']);
  });

  it('fails when the provider refuses it, and says so', async () => {
    await lives.fault('charge', 'reject', 1);
    const { status, body } = await service.call('POST', '/payments', { amount: 50_000 });
    expect(status).toBe(400);
    expect(body.error.code).toBe('payment_create_failed');
    const { rows } = await service.db.query("select id from payments where status = 'failed'");
    expect(rows).toHaveLength(1);
    expect(await lives.end(rows[0].id, 'refused')).toBe('failed');
    expect(await service.transitionsOf(rows[0].id)).toEqual(['accept', 'reject']);
  });

  it.each(['accept_then_reset', 'http_500', 'half_body', 'reset'])(
    'is charged once when the charge ends with %s',
    async (kind) => {
      await lives.fault('charge', kind, 1);
      const { reference_id, id } = await lives.createPayment();
      expect((await service.call('GET', `/payments/${id}`)).body.payment.status).toBe('pending');
      expect(await service.atProvider(reference_id)).toMatchObject({ status: 'pending', charge_calls: 1 });
      expect(await service.transitionsOf(id)).toEqual(['accept', 'issue']);
    },
  );

  it('is confirmed when the provider answers again', async () => {
    const { id, reference_id } = await lives.createPayment();
    await lives.fault('status', 'http_500', 3);
    await service.pay(reference_id);
    // The sandbox notifies in its own time, and must not meet a server that skips it.
    await lives.becomes(id, 'paid');
    expect(await lives.end(id, 'provider-unclear-while-paid')).toBe('settled');
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'pay', 'settle']);
  });

  it('is given up when the provider never answers, and cannot be paid then', async () => {
    await lives.fault('charge', 'http_500', 10_000);
    const before = new Set((await service.db.query('select id from payments')).rows.map(({ id }) => id));
    const answer = service.call('POST', '/payments', { amount: 50_000 });
    const created = await until(
      async () =>
        (await service.db.query('select id, reference_id from payments')).rows.find(({ id }) => !before.has(id)),
      (row) => row !== undefined,
    );
    expect(await lives.end(created.id, 'given-up')).toBe('failed');
    expect(await service.transitionsOf(created.id)).toEqual(['accept', 'reject']);
    expect(await service.atProvider(created.reference_id)).toBeUndefined();
    expect([400, 500]).toContain((await answer).status);
  });

  it.each([
    ['is expired at the provider', false, 'expire', undefined],
    ['and was paid is late money, and goes back', true, 'refund', 'refunded'],
  ])('whose charge shows up after it was given up %s', async (_what, isPaid, atProvider, late) => {
    await lives.fault('charge', 'accept_then_timeout', 10_000);
    await lives.fault('status', 'http_500', 10_000);
    const before = new Set((await service.db.query('select id from payments')).rows.map(({ id }) => id));
    const answer = service.call('POST', '/payments', { amount: 50_000 });
    const { id, reference_id } = await until(
      async () =>
        (await service.db.query('select id, reference_id from payments')).rows.find(({ id }) => !before.has(id)),
      (row) => row !== undefined,
    );
    await until(
      () => service.atProvider(reference_id),
      (order) => order !== undefined,
    );
    if (isPaid) await service.pay(reference_id, { notify: false });
    const workflow = service.client.workflow.getHandle(`payment-${id}`);
    await until(
      async () => {
        await lives.time.passToNextTimer();
        return (await workflow.describe()).raw.pendingActivities?.[0]?.activityType?.name;
      },
      (name) => name === 'giveUpPayment',
    );
    await lives.clearFaults();
    expect(await lives.end(id)).toBe('failed');
    expect([400, 500]).toContain((await answer).status);
    await until(
      () => service.atProvider(reference_id),
      (order) => order?.status === atProvider,
    );
    const { rows } = await until(
      () => service.db.query('select status from late_payments where payment_id = $1', [id]),
      ({ rows }) => rows[0]?.status === late,
    );
    expect(rows).toHaveLength(isPaid ? 1 : 0);
    expect(await service.atProvider(reference_id)).toMatchObject({ charge_calls: expect.any(Number) });
  });
});
