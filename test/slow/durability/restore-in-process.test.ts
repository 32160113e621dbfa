import { randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { recover } from '../../../src/services/recovery/recover';
import { endRecoveryMode } from '../../../src/services/recovery/recovery-mode';
import { PaymentWorkflowClient } from '../../../src/temporal/payment-workflow-client';
import { paymentWorkflowId, webhookWorkflowId } from '../../../workflows/ids';
import { osUser } from '../../support/actors';
import { statusOf, waitForStatus } from '../../support/created-payment';
import { backUp } from '../../support/database';
import { eventually } from '../../support/eventually';
import { startReceiver, type Receiver } from '../../support/receiver';
import { reconcile } from '../../support/reconcile';
import { restore } from '../../support/restore';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

/** PostgreSQL is restored to an earlier time; Temporal and the provider are not. */

jest.setTimeout(600_000);

const LATER = { settlementDelaySeconds: 900 };
const SOON = { settlementDelaySeconds: 3 };

interface Created {
  readonly id: string;
  readonly reference_id: string;
  readonly key: string;
  readonly text: string;
}

let service: TestService;
let receiver: Receiver;
let backup: Awaited<ReturnType<typeof backUp>>;

beforeEach(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 1 });
  receiver = await startReceiver();
});
afterEach(async () => {
  await service.close();
  await Promise.all([receiver.close(), backup.drop()]);
});

async function create(policy: Partial<Parameters<typeof setPolicy>[1]> = LATER, provider = 'gopay'): Promise<Created> {
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', expiresInSeconds: 900, ...LATER, ...policy });
  const key = randomUUID();
  const { body, text, status } = await createUnder(key, provider);
  expect(status).toBe(201);
  return { ...body.payment, key, text };
}

function createUnder(key: string, provider = 'gopay') {
  return service.call('POST', '/payments', { amount: 50_000, provider }, { 'idempotency-key': key });
}

/** Its first webhook attempts fail, so that each delivery has a retry workflow. */
async function createWithFailingWebhooks(): Promise<Created> {
  const { respond } = receiver;
  receiver.respond = (response) => response.writeHead(500).end();
  const payment = await create();
  await eventually(
    () => deliveriesInRetry(payment),
    ({ rowCount }) => rowCount === 2,
  );
  receiver.respond = respond;
  return payment;
}

function deliveriesInRetry({ id }: Created) {
  return service.db.query<{ id: string }>(
    'select id from webhook_deliveries where payment_id = $1 and retry_workflow_started_at is not null',
    [id],
  );
}

async function createPaid(policy?: Partial<Parameters<typeof setPolicy>[1]>): Promise<Created> {
  const payment = await create(policy);
  await service.pay(payment.reference_id);
  await waitForStatus(service, payment.id, 'paid', 'settled');
  return payment;
}

async function act(payment: Created, action: 'cancel' | 'refund'): Promise<void> {
  expect((await service.call('POST', `/payments/${payment.id}/${action}`)).status).toBe(200);
}

async function createRefundFailed(): Promise<Created> {
  const payment = await createPaid();
  await service.injectFault('refund', 'reject');
  await act(payment, 'refund');
  await waitForStatus(service, payment.id, 'refund_failed');
  return payment;
}

/** Temporal deletes the history of a completed workflow after the retention period. */
async function removeWorkflow({ id }: Created): Promise<void> {
  const workflowExecution = { workflowId: paymentWorkflowId(id) };
  const { namespace } = service.client.options;
  await service.client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
  await eventually(
    () => service.workflows.records.describe(id),
    (workflow) => workflow === null,
  );
}

/** Open payments without a running workflow. A payment may become final, and its workflow complete, meanwhile. */
async function stranded(): Promise<string[]> {
  const ids = await openPayments();
  const workflows = await Promise.all(ids.map((id) => service.workflows.records.describe(id)));
  const stillOpen = new Set(await openPayments());
  return ids.filter((id, index) => stillOpen.has(id) && !workflows[index]?.isRunning);
}

async function openPayments(): Promise<string[]> {
  const { rows } = await service.db.query<{ id: string }>(
    "select id from payments where status in ('created', 'pending', 'paid', 'refund_processing', 'refund_failed')",
  );
  return rows.map(({ id }) => id);
}

async function createBeforeBackup() {
  const before = {
    pending: await createWithFailingWebhooks(),
    paidLater: await create(),
    cancelledLater: await create(),
    expiredLater: await create({ expiresInSeconds: 20 }),
    settledLater: await createPaid({ settlementDelaySeconds: 30 }),
    refundedLater: await createPaid(),
    heldLater: await createPaid(),
    retriedLater: await createRefundFailed(),
    cancelled: await create(),
    settled: await createPaid(SOON),
    refunded: await createPaid(),
    expired: await create({ expiresInSeconds: 1 }),
  };
  await act(before.cancelled, 'cancel');
  await act(before.refunded, 'refund');
  for (const status of ['settled', 'refunded', 'expired'] as const)
    await waitForStatus(service, before[status].id, status);
  return before;
}

async function changeAfterBackup(before: Awaited<ReturnType<typeof createBeforeBackup>>): Promise<void> {
  await service.pay(before.paidLater.reference_id);
  await waitForStatus(service, before.paidLater.id, 'paid');
  await act(before.cancelledLater, 'cancel');
  await act(before.refundedLater, 'refund');
  await waitForStatus(service, before.refundedLater.id, 'refunded');
  await service.workflows.request(before.retriedLater, 'retryRefund', { name: 'operator:dewi', note: 'again' });
  await waitForStatus(service, before.retriedLater.id, 'refunded');
  await waitForStatus(service, before.settledLater.id, 'settled');
  await waitForStatus(service, before.expiredLater.id, 'expired');
}

async function createAfterBackup() {
  const after = {
    pending: await createWithFailingWebhooks(),
    cancelled: await create(),
    settled: await createPaid(SOON),
  };
  await act(after.cancelled, 'cancel');
  await waitForStatus(service, after.settled.id, 'settled');
  return after;
}

/** A creation that the provider rejects; an idempotent replay must return the same response. */
async function createRejected(): Promise<{ readonly key: string; readonly text: string }> {
  await service.injectFault('charge', 'reject');
  const key = randomUUID();
  const { status, text } = await createUnder(key);
  expect(status).toBe(400);
  return { key, text };
}

/** An idempotent replay returns the original response, and the provider has one charge and at most one refund. */
async function assertSingleCreation({ key, text, reference_id }: Created): Promise<void> {
  const again = await createUnder(key);
  expect(again.text).toBe(text);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const order = await service.atProvider(reference_id);
  expect(order?.charge_calls).toBe(1);
  expect(order?.refunds.filter(({ status }) => status !== 'rejected').length).toBeLessThanOrEqual(1);
}

it('recovery restores every payment, consistent with the provider', async () => {
  const { merchantId } = service;
  const rules = { environment: 'sandbox', allowedNetworks: undefined } as const;
  const endpoint = { merchantId, url: `${receiver.url}/hooks`, events: [], ...rules };
  await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);

  const before = await createBeforeBackup();
  const failed = await createRejected();
  backup = await backUp(service.databaseUrl);

  await changeAfterBackup(before);
  const after = await createAfterBackup();
  const lostFailed = await createRejected();
  const { rows: lostDeliveries } = await deliveriesInRetry(after.pending);
  await act(before.heldLater, 'refund');

  await restore(service, backup);
  await service.startWorker({ beginsRecovery: true });
  const recovery = await recover(service.operatorContext, service.workflows, { startedSince: new Date(0) });
  expect(recovery.failures).toEqual([]);
  expect(recovery.rows.rebuilt).toBe(4);
  expect(await stranded()).toEqual([]);
  await eventually(
    () => reconcile(service, { changedSince: new Date(0), isRecovering: true }),
    ({ breakCount }) => breakCount === 0,
  );
  expect(await statusOf(service, before.settledLater.id)).toBe('paid');
  expect((await service.atProvider(before.heldLater.reference_id))?.refunds).toEqual([]);
  for (const { id } of lostDeliveries) {
    const { status } = await service.client.workflow.getHandle(webhookWorkflowId(id)).describe();
    expect(status.name).toBe('TERMINATED');
  }

  const { db } = service.operatorContext;
  await endRecoveryMode({ db, workflows: service.workflows }, osUser('dewi'), {
    note: 'recovered',
    hasLostNothing: true,
  });
  const expectedStatuses = [
    [before.pending, 'pending'],
    [before.paidLater, 'paid'],
    [before.cancelledLater, 'cancelled'],
    [before.expiredLater, 'expired'],
    [before.settledLater, 'settled'],
    [before.refundedLater, 'refunded'],
    [before.heldLater, 'refunded'],
    [before.retriedLater, 'refunded'],
    [before.cancelled, 'cancelled'],
    [before.settled, 'settled'],
    [before.refunded, 'refunded'],
    [before.expired, 'expired'],
    [after.pending, 'pending'],
    [after.cancelled, 'cancelled'],
    [after.settled, 'settled'],
  ] as const;
  await eventually(
    () => Promise.all(expectedStatuses.map(([payment]) => statusOf(service, payment.id))),
    (statuses) => statuses.every((status, index) => status === expectedStatuses[index]?.[1]),
  );

  for (const [payment] of expectedStatuses) await assertSingleCreation(payment);
  for (const { key, text } of [failed, lostFailed]) expect((await createUnder(key)).text).toBe(text);
  expect((await verifyLedger(service.db)).breaks).toEqual([]);
  const second = await recover(service.operatorContext, service.workflows, { startedSince: new Date(0) });
  expect([second.rows.rebuilt, second.payments.rebuilt, second.payments.notified]).toEqual([0, 0, 0]);
});

describe('the test detects a mutant of the service', () => {
  it('the test detects a mutant of the service that restarts only failed workflows', async () => {
    const payment = await create();
    backup = await backUp(service.databaseUrl);
    await act(payment, 'cancel');
    await service.client.workflow.getHandle(paymentWorkflowId(payment.id)).result();
    await restore(service, backup);
    await service.startWorker({ beginsRecovery: true });
    await recover(service.operatorContext, new FormerReusePolicy(service.client));
    expect(await stranded()).toEqual([payment.id]);
    await recover(service.operatorContext, service.workflows);
    await waitForStatus(service, payment.id, 'cancelled');
  });

  it.each([
    ['settled', 'settles before it has queried the provider', false],
    ['refunded', 'is in recovery mode', true],
  ])('a refunded payment ends %s where the worker %s', async (status, _worker, beginsRecovery) => {
    const payment = await createPaid(SOON_AFTER_REFUND);
    backup = await backUp(service.databaseUrl);
    await act(payment, 'refund');
    await waitForStatus(service, payment.id, 'refunded');
    await removeWorkflow(payment);
    await restore(service, backup);
    const { rows } = await service.db.query<{ due: Date }>(
      'select settlement_due_at as due from payments where id = $1',
      [payment.id],
    );
    await eventually(
      async () => Date.now(),
      (nowMs) => nowMs > (rows[0]?.due.getTime() ?? Infinity),
    );
    await service.startWorker({ beginsRecovery });
    await recover(service.operatorContext, service.workflows);
    await waitForStatus(service, payment.id, status);
    expect((await service.transitionsOf(payment.id)).includes('settle')).toBe(!beginsRecovery);
  });
});

/** Time for the refund before the settlement is due. */
const SOON_AFTER_REFUND = { settlementDelaySeconds: 20 };

/** An earlier version of recovery: it restarts failed workflows, not completed ones. */
class FormerReusePolicy extends PaymentWorkflowClient {
  override async restartPayment(
    ...[terms, resumption]: Parameters<PaymentWorkflowClient['restartPayment']>
  ): Promise<void> {
    await this.resumePayment(terms, resumption);
  }
}
