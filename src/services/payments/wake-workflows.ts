import { forEachConcurrent } from '../../lib/for-each-concurrent';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';

/** Signals in flight at Temporal. */
const CONCURRENCY = 8;

/** Lets workflows that wait continue now. One that misses the signal repeats its step by its own timer. */
export async function wakeWorkflows(
  workflows: Pick<PaymentWorkflowClient, 'signalProviderUpdate'>,
  paymentIds: readonly string[],
): Promise<void> {
  await forEachConcurrent(paymentIds, CONCURRENCY, async (paymentId) => {
    await workflows.signalProviderUpdate(paymentId).catch(() => undefined);
  });
}
