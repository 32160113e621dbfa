import type { Client } from '@temporalio/client';
import { createSealer } from '../../../src/crypto/sealing';
import { OPEN_STATUSES } from '../../../src/domain/payment-transitions';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { recover } from '../../../src/services/recovery/recover';
import { paymentWorkflowId } from '../../../workflows/ids';
import { asSuperuser } from '../../support/backdate';
import { waitForStatus } from '../../support/created-payment';
import { eventually } from '../../support/eventually';
import { startReceiver } from '../../support/receiver';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 3 });
  await setPolicy(service.db, {
    provider: 'gopay',
    channel: 'qris',
    expiresInSeconds: 900,
    settlementDelaySeconds: 900,
  });
});
afterAll(() => service.close());

afterEach(() => service.clearFaults());

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

async function create(policy: { expiresInSeconds?: number; settlementDelaySeconds?: number } = {}): Promise<Created> {
  const usual = { expiresInSeconds: 900, settlementDelaySeconds: 900 };
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', ...usual, ...policy });
  return (await service.call('POST', '/payments', { amount: 50_000 })).body.payment;
}

async function pay(payment: Created): Promise<void> {
  await service.pay(payment.reference_id);
  await waitForStatus(service, payment.id, 'paid');
}

/** Deletes every workflow, like a loss of Temporal's database. */
async function wipe(client: Client): Promise<void> {
  const { namespace } = client.options;
  const ids = new Set<string>();
  for await (const { workflowId, runId } of client.workflow.list()) {
    ids.add(workflowId);
    await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } });
  }
  for (const id of ids) {
    await eventually(
      () =>
        client.workflow
          .getHandle(id)
          .describe()
          .then(
            () => 'there',
            () => 'gone',
          ),
      (is) => is === 'gone',
    );
  }
}

/** A payment whose refund the provider has executed, but whose response was lost. */
async function createWithLostRefundResponse(): Promise<Created> {
  const payment = await create();
  await pay(payment);
  await service.injectFault('refund', 'accept_then_timeout');
  await service.call('POST', `/payments/${payment.id}/refund`);
  await eventually(
    () => service.transitionsOf(payment.id),
    (names) => names.includes('submit_refund'),
  );
  await eventually(
    async () => (await service.atProvider(payment.reference_id))?.refunds.length,
    (count) => count === 1,
  );
  return payment;
}

it('lunas recover: every payment continues, once, after Temporal has lost everything', async () => {
  const receiver = await startReceiver();
  receiver.respond = (response) => response.writeHead(500).end();
  await registerEndpoint(service.db, createSealer(service.masterKey), {
    merchantId: service.merchantId,
    url: receiver.url,
    events: ['payment.created'],
  });
  const open = await create();
  await eventually(
    () => service.db.query('select 1 from webhook_deliveries where retry_workflow_started_at is not null'),
    ({ rowCount }) => rowCount === 1,
  );
  const expiring = await create({ expiresInSeconds: 30 });
  const settling = await create({ settlementDelaySeconds: 30 });
  await pay(settling);
  const held = await create();
  await pay(held);
  await service.call('POST', `/payments/${held.id}/refund`);

  const submitted = await createWithLostRefundResponse();

  await service.stopWorker();
  await wipe(service.client);
  receiver.respond = (response) => response.writeHead(200).end();
  await service.startWorker();
  const first = await recover(service.operatorContext, service.workflows);
  const unfinished = await service.db.query('select 1 from payments where status = any($1)', [OPEN_STATUSES]);
  // The sweeper of the worker has started the payments that have an open notification. Some may have ended already.
  const restarted = first.payments.rebuilt + first.payments.running;
  expect(first.payments.rebuilt).toBeGreaterThanOrEqual(1);
  expect(restarted).toBeGreaterThanOrEqual(unfinished.rowCount ?? 0);
  const second = await recover(service.operatorContext, service.workflows);
  expect(second.payments.rebuilt).toBe(0);
  expect(first.deliveries.rebuilt).toBeGreaterThanOrEqual(1);
  await eventually(
    () => service.db.query("select 1 from webhook_deliveries where status <> 'delivered'"),
    ({ rowCount }) => rowCount === 0,
  );
  await receiver.close();

  await waitForStatus(service, expiring.id, 'expired');
  await waitForStatus(service, settling.id, 'settled');
  await waitForStatus(service, held.id, 'refunded');
  await waitForStatus(service, submitted.id, 'refunded');
  await pay(open);
  for (const payment of [held, submitted]) {
    expect((await service.atProvider(payment.reference_id))?.refunds).toMatchObject([
      { refund_key: `${payment.reference_id}-R1`, status: 'confirmed' },
    ]);
  }
  const { rows } = await service.db.query(
    `select payments.id, occurred_at, settlement_due_at, expires_at from payments
     join payment_transitions on payment_id = payments.id and name in ('settle', 'expire')
     where payments.id = any ($1)`,
    [[expiring.id, settling.id]],
  );
  for (const { occurred_at, settlement_due_at, expires_at } of rows) {
    expect(occurred_at.getTime()).toBeGreaterThanOrEqual((settlement_due_at ?? expires_at).getTime());
  }
});

describe('lunas recover: the response to a creation that PostgreSQL has lost', () => {
  const READ = `select status, version, qris_payload, provider_transaction_id, failure_reason, updated_at
    from payments where id = $1`;
  const read = async (id: string) => (await service.db.query(READ, [id])).rows[0];
  const workflowOf = (id: string) => service.client.workflow.getHandle(paymentWorkflowId(id));

  const isReported = (id: string, expected: string) =>
    eventually(
      async () => (await service.workflows.records.describe(id))?.status,
      (status) => status === expected,
    );

  /** As a restore of PostgreSQL to the time of the creation, or to one before it. */
  async function lose(id: string, { hasRow }: { hasRow: boolean }): Promise<void> {
    const since = hasRow ? 2 : 1;
    await asSuperuser(
      service.db,
      `delete from webhook_deliveries where payment_id = '${id}' and payment_version >= ${since}`,
      `delete from webhook_events where payment_id = '${id}' and payment_version >= ${since}`,
      `delete from payment_transitions where payment_id = '${id}' and version >= ${since}`,
      hasRow
        ? `update payments set status = 'created', version = 1, qris_payload = null, provider_transaction_id = null,
             failure_reason = null, updated_at = created_at where id = '${id}'`
        : `delete from payments where id = '${id}'`,
    );
  }

  async function recoverUntil(id: string, status: string): Promise<void> {
    // Temporal lists a workflow some time after its start.
    await eventually(
      async () => {
        const { failures } = await recover(service.operatorContext, service.workflows, { startedSince: new Date(0) });
        expect(failures).toEqual([]);
        return read(id);
      },
      (row) => row !== undefined,
    );
    await eventually(
      () => read(id),
      (row) => row.status === status,
    );
  }

  it.each([
    { hasRow: true, isRunning: true },
    { hasRow: true, isRunning: false },
    { hasRow: false, isRunning: true },
    { hasRow: false, isRunning: false },
  ])('a lost response is recorded again by a worker: %j', async ({ hasRow, isRunning }) => {
    const { id, reference_id } = await create();
    const before = await read(id);
    await isReported(id, 'pending');
    if (!isRunning) await workflowOf(id).terminate('by hand');
    await lose(id, { hasRow });
    await recoverUntil(id, 'pending');
    expect(await read(id)).toEqual(before);
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue']);
    expect((await service.atProvider(reference_id))?.charge_calls).toBe(1);
  });

  it('a lost response is recorded again if the customer has paid since, and the payment is paid', async () => {
    const { id, reference_id } = await create();
    await isReported(id, 'pending');
    await service.providerDb.query("update payments set status = 'settlement', paid_at = now() where order_id = $1", [
      reference_id,
    ]);
    await lose(id, { hasRow: false });
    await recoverUntil(id, 'paid');
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'pay']);
  });

  it('a lost response is recorded again too if the provider rejected the creation', async () => {
    await service.injectFault('charge', 'reject');
    const request = () => service.call('POST', '/payments', { amount: 50_000 }, { 'idempotency-key': 'rejected' });
    const { text } = await request();
    const { rows } = await service.db.query("select id from payments where idempotency_key = 'rejected'");
    const { id } = rows[0];
    await workflowOf(id).result();
    const before = await read(id);
    await lose(id, { hasRow: false });
    await recoverUntil(id, 'failed');
    expect(await read(id)).toEqual(before);
    expect((await request()).text).toBe(text);
  });
});
