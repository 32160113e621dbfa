import type { Client } from '@temporalio/client';
import { createSealer } from '../../../src/crypto/sealing';
import { OPEN_STATUSES } from '../../../src/domain/payment-transitions';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { recover } from '../../../src/services/recovery/recover';
import { createEndpoint } from '../../../src/services/webhooks/webhook-endpoints';
import { eventually } from '../../support/eventually';
import { startReceiver } from '../../support/receiver';
import { newNamespace, startTestService, type TestService } from '../../support/service';

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

async function waitForStatus(id: string, status: string): Promise<void> {
  await eventually(
    async () => (await service.call('GET', `/payments/${id}`)).body.payment?.status,
    (now) => now === status,
  );
}

async function pay(payment: Created): Promise<void> {
  await service.pay(payment.reference_id);
  await waitForStatus(payment.id, 'paid');
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
  await createEndpoint(service.db, createSealer(service.masterKey), {
    merchantId: service.merchantId,
    url: receiver.url,
    events: ['payment.created'],
    environment: 'sandbox',
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

  await waitForStatus(expiring.id, 'expired');
  await waitForStatus(settling.id, 'settled');
  await waitForStatus(held.id, 'refunded');
  await waitForStatus(submitted.id, 'refunded');
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
