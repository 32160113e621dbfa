import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { setPolicy } from '../../src/operator/catalog';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/server-key';
import { createTimeSkippingEnvironment } from '../support/engine';
import { cancelSignal } from '../../workflows/messages';
import { recordHistory } from '../support/history';
import { startTestService, type TestService } from '../support/service';
import { until } from '../support/until';

const DAY_MS = 86_400_000;

let environment: TestWorkflowEnvironment;
let service: TestService;

beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
  // Without a cache every step replays the whole life, and a stopped worker leaves nothing behind on this server.
  service = await startTestService({ address: environment.address, namespace: 'default', security: {} }, 0);
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: (3 * DAY_MS) / 1_000 });
}, 60_000);

afterAll(async () => {
  await service.close();
  await environment.teardown();
});

beforeEach(() => fault('DELETE'));

async function fault(method: 'PUT' | 'DELETE', body: object = {}): Promise<void> {
  const response = await fetch(`${service.sandboxUrl}/simulator/faults`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(method === 'PUT' && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBeLessThan(300);
}

async function createPayment(): Promise<{ id: string; reference_id: string; expires_at: string }> {
  const { status, body } = await service.call('POST', '/payments', { amount: 50_000 });
  expect(status).toBe(201);
  return body.payment;
}

/** Awaits the end of the payment's life; the server skips the time in between. A life with a name can be recorded. */
async function end(id: string, name?: string): Promise<unknown> {
  const workflow = environment.client.workflow.getHandle(`payment-${id}`);
  await until(async () => (await workflow.fetchHistory()).events?.at(-1), isAtRest);
  const status = await workflow.result();
  if (name !== undefined) await recordHistory(environment.client, workflow.workflowId, `payment-${name}`);
  return status;
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** This server skips time under a workflow task that is being worked on, and lets it time out. */
function isAtRest(lastEvent: HistoryEvent | undefined): boolean {
  return !lastEvent?.workflowTaskScheduledEventAttributes && !lastEvent?.workflowTaskStartedEventAttributes;
}

async function life(id: string): Promise<{ name: string; at: number }[]> {
  const { rows } = await service.db.query(
    'select name, occurred_at from payment_transitions where payment_id = $1 order by version',
    [id],
  );
  return rows.map(({ name, occurred_at }) => ({ name, at: occurred_at.getTime() }));
}

async function statusOf(id: string): Promise<string> {
  return (await service.call('GET', `/payments/${id}`)).body.payment.status;
}

describe('a payment', () => {
  it('is paid, waits three days, and settles', async () => {
    const { id, reference_id } = await createPayment();
    await service.pay(reference_id);
    await until(
      () => statusOf(id),
      (status) => status === 'paid',
    );
    const startedMs = Date.now();
    expect(await end(id, 'settled')).toBe('settled');
    expect(Date.now() - startedMs).toBeLessThan(DAY_MS);
    const [, , paid, settled] = await life(id);
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'pay', 'settle']);
    expect((settled?.at ?? 0) - (paid?.at ?? 0)).toBeGreaterThanOrEqual(3 * DAY_MS);
    expect((settled?.at ?? 0) - (paid?.at ?? 0)).toBeLessThan(3 * DAY_MS + 60_000);
  });

  it('expires unpaid, not before its time, and with the provider', async () => {
    const { id, reference_id, expires_at } = await createPayment();
    expect(await end(id, 'expired')).toBe('expired');
    const [, , expired] = await life(id);
    expect(expired?.name).toBe('expire');
    expect(expired?.at).toBeGreaterThanOrEqual(Date.parse(expires_at));
    expect(await service.atProvider(reference_id)).toMatchObject({ status: 'expire', charge_calls: 1 });
  });

  it('is not expired early by a provider whose clock runs ahead', async () => {
    const { id, reference_id, expires_at } = await createPayment();
    expect(Date.parse(expires_at) % 1_000).toBe(0);
    const expired = await fetch(`${service.sandboxUrl}/v2/${reference_id}/expire`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${SANDBOX_SERVER_KEY}:`).toString('base64')}` },
    });
    expect(await expired.json()).toMatchObject({ transaction_status: 'expire' });
    await service.engine.reportPaid(id);
    expect(await end(id)).toBe('expired');
    expect((await life(id)).at(-1)?.at).toBeGreaterThanOrEqual(Date.parse(expires_at));
  });

  it('counts as paid when the customer was in time and nobody told us', async () => {
    const { id, reference_id } = await createPayment();
    await service.pay(reference_id, { notify: false });
    expect(await end(id, 'paid-unnoticed')).toBe('settled');
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'pay', 'settle']);
  });

  it('is cancelled by an operator in the Web UI as by its merchant', async () => {
    const { id, reference_id } = await createPayment();
    await environment.client.workflow.getHandle(`payment-${id}`).signal(cancelSignal);
    expect(await end(id, 'cancelled')).toBe('cancelled');
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'cancel']);
    expect(await service.atProvider(reference_id)).toMatchObject({ status: 'cancel' });
  });

  it('goes on with another worker where the first one stopped', async () => {
    const { id, reference_id } = await createPayment();
    await service.stopWorker();
    await service.pay(reference_id);
    await until(
      () => service.atProvider(reference_id),
      (payment) => payment?.status === 'settlement',
    );
    await service.startWorker();
    await until(
      () => statusOf(id),
      (status) => status === 'paid',
      30_000,
    );
    await service.stopWorker();
    await service.startWorker();
    expect(await end(id, 'worker-replaced')).toBe('settled');
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'pay', 'settle']);
  }, 60_000);

  it('fails when the provider refuses it, and says so', async () => {
    await fault('PUT', { operation: 'charge', kind: 'reject', times: 1 });
    const { status, body } = await service.call('POST', '/payments', { amount: 50_000 });
    expect(status).toBe(400);
    expect(body.error.code).toBe('payment_create_failed');
    const { rows } = await service.db.query("select id from payments where status = 'failed'");
    expect(rows).toHaveLength(1);
    expect(await end(rows[0].id, 'refused')).toBe('failed');
    expect(await service.transitionsOf(rows[0].id)).toEqual(['accept', 'reject']);
  });

  it.each(['accept_then_reset', 'http_500', 'half_body', 'reset'])(
    'is charged once when the charge ends with %s',
    async (kind) => {
      await fault('PUT', { operation: 'charge', kind, times: 1 });
      const { reference_id, id } = await createPayment();
      expect(await statusOf(id)).toBe('pending');
      expect(await service.atProvider(reference_id)).toMatchObject({ status: 'pending', charge_calls: 1 });
      expect(await service.transitionsOf(id)).toEqual(['accept', 'issue']);
    },
  );

  it('is confirmed when the provider answers again', async () => {
    const { id, reference_id } = await createPayment();
    await fault('PUT', { operation: 'status', kind: 'http_500', times: 3 });
    await service.pay(reference_id);
    // The sandbox notifies in its own time, and must not meet a server that skips it.
    await until(
      () => statusOf(id),
      (status) => status === 'paid',
    );
    expect(await end(id, 'provider-unclear-while-paid')).toBe('settled');
    expect(await service.transitionsOf(id)).toEqual(['accept', 'issue', 'pay', 'settle']);
  });

  it('is given up when the provider never answers, and cannot be paid then', async () => {
    await fault('PUT', { operation: 'charge', kind: 'http_500', times: 10_000 });
    const before = new Set((await service.db.query('select id from payments')).rows.map(({ id }) => id));
    const answer = service.call('POST', '/payments', { amount: 50_000 });
    const created = await until(
      async () =>
        (await service.db.query('select id, reference_id from payments')).rows.find(({ id }) => !before.has(id)),
      (row) => row !== undefined,
    );
    expect(await end(created.id, 'given-up')).toBe('failed');
    expect(await service.transitionsOf(created.id)).toEqual(['accept', 'reject']);
    expect(await service.atProvider(created.reference_id)).toBeUndefined();
    expect([400, 500]).toContain((await answer).status);
  }, 60_000);
});
