import { setWorkflowOptions, sleep } from '@temporalio/workflow';
import * as unchanged from '../../workflows';

/* The workflows of another version: a payment has one step more, a timer. Workers load this file as a bundle. */

export const { latePayment, reconcile, retention, webhookDelivery } = unchanged;

export async function payment(...args: Parameters<typeof unchanged.payment>): ReturnType<typeof unchanged.payment> {
  const [status] = await Promise.all([unchanged.payment(...args), sleep(1)]);
  return status;
}

setWorkflowOptions({ versioningBehavior: 'PINNED' }, payment);
