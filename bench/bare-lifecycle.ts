import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation, WorkflowIdConflictPolicy, type Client } from '@temporalio/client';
import { paymentWorkflowId } from '../workflows/ids';
import { SETTLEMENT_DELAY_SECONDS } from './harness';
import type { BenchmarkMerchant } from './merchant';
import { bareCreateUpdate, barePaidSignal, type bareLifecycle } from './noop/workflow';
import type { BenchmarkReceiver } from './receiver';

/** @returns the id of a bare lifecycle that has come to its last step */
export async function runBareLifecycle(client: Client, receiver: BenchmarkReceiver): Promise<string> {
  const workflowId = `bare-${randomUUID()}`;
  const finished = receiver.finished(workflowId);
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof bareLifecycle>('bareLifecycle', {
    workflowId,
    taskQueue: 'bench-noop',
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    args: [SETTLEMENT_DELAY_SECONDS * 1_000],
  });
  await client.workflow.executeUpdateWithStart(bareCreateUpdate, { startWorkflowOperation });
  await client.workflow.getHandle(workflowId).signal(barePaidSignal);
  await finished;
  return workflowId;
}

const SHAPE_ATTEMPTS = 10;

/**
 * A ratio of lifecycles means nothing if their histories have other events. The signal of a busy machine can come in
 * another workflow task, so a few lifecycles are compared.
 * @throws Error if no two of them have the same events
 */
export async function assertSameShape(
  client: Client,
  merchant: BenchmarkMerchant,
  receiver: BenchmarkReceiver,
): Promise<void> {
  let shapes: readonly string[] = [];
  for (let attempt = 0; attempt < SHAPE_ATTEMPTS; attempt += 1) {
    const payment = await merchant.createAndPay();
    await receiver.lifecycle(payment.id);
    const bare = await runBareLifecycle(client, receiver);
    shapes = await Promise.all([paymentWorkflowId(payment.id), bare].map((id) => eventTypesOf(client, id)));
    if (shapes[0] === shapes[1]) return;
  }
  throw new Error(`A payment and a bare lifecycle have other events:\n${shapes.join('\n')}`);
}

/** The numbers of the types (`temporal.api.enums.v1.EventType`) of a workflow's events, once it has completed. */
async function eventTypesOf(client: Client, workflowId: string): Promise<string> {
  const handle = client.workflow.getHandle(workflowId);
  while ((await handle.describe()).status.name === 'RUNNING') await sleep(50);
  const { events } = await handle.fetchHistory();
  return (events ?? []).map(({ eventType }) => eventType).join(' ');
}
