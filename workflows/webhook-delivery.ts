import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities';

export interface WebhookDeliveryInput {
  readonly deliveryId: string;
  readonly initialDelayMs: number;
  /** What is delivered where, for operators. */
  readonly summary: string;
  /** How the first try failed. */
  readonly firstFailure: string;
}

/** Longer than a try and the statements around it: no body outlives its attempt. */
const ACTIVITY_TIMEOUT = '1 minute';

/** After an error of ours, such as a database that is away. After a failed request the activity itself gives the wait. */
const OUR_ERRORS = { initialInterval: '10 seconds', maximumInterval: '5 minutes' } as const;

/** The retries of one delivery whose first try failed: the waits between them come from the activity. */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<'delivered' | 'dead'> {
  setCurrentDetails(
    `The first try failed: ${input.firstFailure}.\n\n` +
      'The next ones follow over three days; the pending activity shows the last one, and when the next is due.',
  );
  await sleep(input.initialDelayMs);
  const { deliverWebhook } = proxyActivities<Activities>({
    startToCloseTimeout: ACTIVITY_TIMEOUT,
    retry: OUR_ERRORS,
    summary: input.summary,
  });
  const result = await deliverWebhook(input.deliveryId);
  setCurrentDetails(describe(result));
  return result.status;
}

function describe({ status, attempts: tries, lastFailure }: Awaited<ReturnType<Activities['deliverWebhook']>>): string {
  if (status === 'delivered') return `Delivered after ${tries} tries.`;
  const last = lastFailure === null ? '' : ` The last one failed: ${lastFailure}.`;
  return `Dead after ${tries} tries.${last} An operator can have it redelivered.`;
}
