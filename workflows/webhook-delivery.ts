import { setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { authentic } from './authentic';
import { regularActivities } from './regular-activities';

export interface WebhookDeliveryInput {
  readonly deliveryId: string;
  readonly initialDelayMs: number;
  /** Event, payment and host of the endpoint, for operators. */
  readonly summary: string;
  /** How the first attempt failed. */
  readonly firstFailure: string;
}

/** Longer than a request and the statements around it: no function of an attempt is running after its timeout. */
const ACTIVITY_TIMEOUT = '1 minute';

/**
 * After an error of our own, such as a lost database connection. After a failed request the activity sets the delay.
 */
const OUR_ERRORS = { initialInterval: '10 seconds', maximumInterval: '5 minutes' } as const;

/** The retries of one delivery after the relay's first attempt failed. The activity sets the delays between them. */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<'delivered' | 'dead'> {
  const { deliveryId, initialDelayMs, summary, firstFailure } = authentic(input);
  setCurrentDetails(
    `The first attempt failed: ${firstFailure}.\n\n` +
      'The retries follow over three days. The pending activity shows the last attempt, and when the next one is due.',
  );
  await sleep(initialDelayMs, { summary: 'the next attempt' });
  const { deliverWebhook } = regularActivities({
    startToCloseTimeout: ACTIVITY_TIMEOUT,
    retry: OUR_ERRORS,
    summary,
  });
  const result = authentic(await deliverWebhook(deliveryId));
  setCurrentDetails(describe(result));
  return result.status;
}

function describe({ status, attempts, lastFailure }: Awaited<ReturnType<Activities['deliverWebhook']>>): string {
  if (status === 'delivered') return `Delivered after ${attempts} attempts.`;
  const last = lastFailure === null ? '' : ` The last attempt failed: ${lastFailure}.`;
  return `Dead after ${attempts} attempts.${last} An operator can redeliver it.`;
}
