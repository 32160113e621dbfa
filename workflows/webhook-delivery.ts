import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities';

export interface WebhookDeliveryInput {
  readonly deliveryId: string;
  readonly firstWaitMs: number;
  /** What is delivered where, for operators. */
  readonly summary: string;
}

/** The retries of one delivery whose first try failed: the waits between them come from the activity. */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<'delivered' | 'dead'> {
  setCurrentDetails(`The first try failed; the next ones follow over three days. ${input.summary}`);
  await sleep(input.firstWaitMs);
  const { deliverWebhook } = proxyActivities<Activities>({
    startToCloseTimeout: '20 seconds',
    retry: { initialInterval: '10 seconds', maximumInterval: '1 day' },
    summary: input.summary,
  });
  const outcome = await deliverWebhook(input.deliveryId);
  setCurrentDetails(
    outcome === 'delivered' ? 'Delivered.' : 'Dead: no more tries. It can be redelivered by an operator.',
  );
  return outcome;
}
