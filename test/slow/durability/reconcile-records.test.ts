import { randomUUID } from 'node:crypto';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { asSuperuser } from '../../support/backdate';
import { eventually } from '../../support/eventually';
import { reconcile } from '../../support/reconcile';
import { newNamespace, startTestService, type TestService } from '../../support/service';

/** The second was started manually: its id is no UUID. */
const ORPHANS = [`payment-${randomUUID()}`, 'payment-by-hand'];

let service: TestService;
let unended: Created;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  const policy = {
    provider: 'gopay',
    channel: 'qris',
    expiresInSeconds: 7_200,
    settlementDelaySeconds: 7_200,
  } as const;
  await setPolicy(service.db, policy);
  for (const workflowId of ORPHANS) {
    await service.client.workflow.start('payment', { workflowId, taskQueue: 'without-worker', args: [] });
  }
  unended = await create();
  await service.client.workflow.getHandle(`payment-${unended.id}`).terminate();
  await service.client.workflow.start('payment', {
    workflowId: `payment-${unended.id}`,
    taskQueue: 'without-worker',
    args: [],
  });
  await finishLongAgo(unended);
});
afterAll(() => service.close());

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

async function create(): Promise<Created> {
  return (await service.call('POST', '/payments', { amount: 50_000 })).body.payment;
}

async function openExceptions(): Promise<string[]> {
  const { rows } = await service.db.query<{ reference: string }>(
    `select reference_id as reference from exceptions where kind = 'reconciliation' and resolved_at is null`,
  );
  return rows.map(({ reference }) => reference);
}

/** In PostgreSQL only. */
async function finishLongAgo({ id }: Created): Promise<void> {
  await service.db.query(
    "update payments set status = 'expired', updated_at = now() - interval '1 day' where id = $1",
    [id],
  );
}

/** Creates an `expired` payment with a late payment in this status, without a workflow. */
async function plantLatePayment(status: 'received' | 'submitted'): Promise<Created> {
  const payment = await create();
  await service.client.workflow.getHandle(`payment-${payment.id}`).terminate();
  await service.db.query(
    "update payments set status = 'expired', updated_at = now() - interval '1 day' where id = $1",
    [payment.id],
  );
  await service.db.query(
    `insert into late_payments (payment_id, merchant_id, total_rupiah, provider_transaction_id, paid_at, status,
       received_at,
       submitted_at, refund_key)
     select id, merchant_id, 50000, 'tx', now(), $2::text, now() - interval '1 hour',
       case $2::text when 'submitted' then now() - interval '1 hour' end, reference_id || '-LATE'
     from payments where id = $1`,
    [payment.id, status],
  );
  return payment;
}

describe('records of only PostgreSQL or only Temporal', () => {
  it('stuck late payments are overdue, and their workflow is notified', async () => {
    const stuck = [await plantLatePayment('received'), await plantLatePayment('submitted')];
    await service.stopWorker();
    const { breaks } = await reconcile(service);
    const references = stuck.map(({ reference_id }) => reference_id).sort();
    const late = breaks.filter(({ referenceId }) => references.includes(referenceId));
    expect(late.map(({ kind, isResolvedByStatusQuery }) => [kind, isResolvedByStatusQuery])).toEqual([
      ['overdue', true],
      ['overdue', true],
    ]);
    const { rows } = await service.db.query<{ reference: string }>(
      'select reference_id as reference from provider_notifications where closed_at is null',
    );
    expect(rows.map(({ reference }) => reference).sort()).toEqual(references);
    // The sweeper repeats an open notification: another run adds none.
    await reconcile(service);
    expect((await service.db.query('select from provider_notifications where closed_at is null')).rowCount).toBe(2);
    await asSuperuser(service.db, 'delete from late_payment_events', 'delete from late_payments');
    await service.startWorker();
  });

  it('a webhook delivery without its retry workflow is a break, one with it is not', async () => {
    const endpointId = randomUUID();
    await service.db.query(
      "insert into webhook_endpoints (id, merchant_id, url, status) values ($1, $2, 'http://127.0.0.1:9', 'disabled')",
      [endpointId, service.merchantId],
    );
    const retriedSince = async (secondsAgo: number) => {
      const payment = await create();
      const { rows } = await service.db.query<{ id: string }>(
        `insert into webhook_deliveries
           (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, retry_workflow_started_at)
         select gen_random_uuid(), id, 1, $2, merchant_id, 'payment.created', 'pending',
           now() - $3 * interval '1 second'
         from payments where id = $1 on conflict (payment_id, payment_version, endpoint_id) do update
           set status = 'pending', dead_reason = null, finished_at = null,
             retry_workflow_started_at = excluded.retry_workflow_started_at
         returning id`,
        [payment.id, endpointId, secondsAgo],
      );
      return { ...payment, deliveryId: rows[0]?.id };
    };
    const [lost, retried] = [await retriedSince(120), await retriedSince(120)];
    await retriedSince(0);
    await service.client.workflow.start('webhookDelivery', {
      workflowId: `webhook-${retried.deliveryId}`,
      taskQueue: 'without-worker',
      args: [],
    });
    const { breaks } = await reconcile(service);
    expect(breaks.map(({ kind, referenceId }) => [kind, referenceId])).toEqual([['missing', lost.reference_id]]);
    expect(breaks[0]?.detail).toContain('a recovery starts it');
    expect(await openExceptions()).toContain(lost.reference_id);
    await service.db.query('update webhook_deliveries set retry_workflow_started_at = null where endpoint_id = $1', [
      endpointId,
    ]);
  });

  it('workflows without a payment open an exception, and a workflow of a final payment is notified', async () => {
    // Started before the other tests, because only workflows older than the grace period are checked.
    const expected = [...ORPHANS.map((workflowId) => `missing ${workflowId}`), `mismatch ${unended.reference_id}`];
    const { breaks } = await eventually(
      () => reconcile(service),
      (found) => found.breaks.length >= expected.length,
    );
    expect(breaks.map(({ kind, referenceId }) => `${kind} ${referenceId}`).sort()).toEqual(expected.sort());
    expect(await openExceptions()).toEqual(expect.arrayContaining(ORPHANS));
  });
});

it('a provider that gives no result does not hide a lost workflow', async () => {
  const [lost, sound] = [await create(), await create()];
  await service.client.workflow.getHandle(`payment-${lost.id}`).terminate();
  await service.injectFault('status', 'http_500', 1_000);
  const { breaks, indeterminate, compared, seen } = await reconcile(service);
  await service.clearFaults();
  const found = breaks.filter(({ paymentId }) => [lost.id, sound.id].includes(paymentId));
  expect(found).toMatchObject([{ paymentId: lost.id, kind: 'missing' }]);
  expect(indeterminate).toBeGreaterThanOrEqual(2);
  expect(compared).toBe(0);
  expect(seen).toBeGreaterThanOrEqual(2);
});

it('a scheduled run records its coverage, and compares what became final since the run before it', async () => {
  const runs = async () => {
    const { rows } = await service.db.query(
      'select started_at, changed_since, is_complete, coverage from reconciliation_runs order by id',
    );
    return rows;
  };
  for (const count of [1, 2]) {
    await service.client.schedule.getHandle('reconciliation').trigger();
    await eventually(runs, (rows) => rows.length === count);
  }
  const [first, second] = await runs();
  expect(first).toMatchObject({ is_complete: true, coverage: expect.any(Array) });
  expect(second.changed_since.getTime()).toBe(first.started_at.getTime() - 3 * 3_600_000);
});
