import type { WorkflowExecutionDescription } from '@temporalio/client';
import { PAYMENTS_TASK_QUEUE } from '../../../workflows/ids';
import { startWorkerProcess } from '../../support/api-process';
import { eventually } from '../../support/eventually';
import { seedPayments } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await service.stopWorker();
});
afterAll(() => service.close());

/** With their open payments a slice is longer than the 15 s in which a worker must stop. */
const SEEDED = { count: 9_000, from: '2026-01-01T00:00:00Z', rareOneIn: 3, sameReference: 1 };

const isComparing = ({ raw }: WorkflowExecutionDescription): boolean =>
  raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'reconcilePayments') ?? false;

async function countOf(query: string): Promise<number> {
  const { rows } = await service.db.query<{ count: number }>(`select count(*)::integer as count from ${query}`);
  return rows[0]?.count ?? 0;
}

it('SIGTERM in the middle of a reconciliation: the worker exits with 0, and the next one continues', async () => {
  await seedPayments(service.db, service.merchantId, SEEDED);
  // Their account is the sandbox, which responds, and has no order of them.
  await service.db.query(
    `update payments set provider_account_id =
       (select id from provider_accounts where provider = 'gopay' and base_url = $1)`,
    [service.sandboxUrl],
  );
  const worker = await startWorkerProcess(service);
  const run = await service.client.workflow.start('reconcile', {
    workflowId: 'reconcile-stop',
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [],
  });
  await eventually(() => run.describe(), isComparing);
  // One page of two hundred payments is compared, and the next one is not.
  await eventually(
    () => countOf('exceptions'),
    (count) => count > 0,
  );
  expect(await worker.stop()).toBe(0);
  const compared = await countOf('exceptions');
  const open = await countOf(
    "payments where status in ('created', 'pending', 'paid', 'refund_processing', 'refund_failed')",
  );
  expect(compared).toBeLessThan(open);

  const next = await startWorkerProcess(service);
  const result = String(await run.result());
  expect(result).toContain(`${open} of ${open} compared`);
  const { events } = await run.fetchHistory();
  const ended = (events ?? []).filter(
    (event) => event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes,
  );
  expect(ended).toEqual([]);
  expect(await next.stop()).toBe(0);
});
