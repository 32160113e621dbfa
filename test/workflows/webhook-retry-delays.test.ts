import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { WebhookDeliveryResult } from '../../activities/webhook-delivery';
import type { webhookDelivery } from '../../workflows/webhook-delivery';
import { createTimeSkippingEnvironment, workflowBundlePath } from '../support/temporal';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
});
afterAll(() => environment.teardown());

/** Delivers a webhook with an activity that throws these errors first. @returns how long that took, in skipped time */
async function deliverAfter(name: string, errors: readonly Error[]): Promise<number> {
  const left = [...errors];
  const deliverWebhook = async (): Promise<WebhookDeliveryResult> => {
    const error = left.shift();
    if (error) throw error;
    return { status: 'delivered', attempts: 2, lastFailure: null };
  };
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: name,
    workflowBundle: { codePath: workflowBundlePath() },
    activities: { deliverWebhook },
  });
  const input = { deliveryId: name, initialDelayMs: 10_000, summary: name, firstFailure: 'HTTP 500' };
  const handle = await environment.client.workflow.start<typeof webhookDelivery>('webhookDelivery', {
    workflowId: name,
    taskQueue: name,
    args: [input],
  });
  expect(await worker.runUntil(handle.result())).toBe('delivered');
  const { startTime, closeTime } = await handle.describe();
  return Number(closeTime) - Number(startTime);
}

it('an error of our own delays the next attempt by at most five minutes', async () => {
  const errors = Array.from({ length: 12 }, () => new Error('the database is not reachable'));
  expect(await deliverAfter('errors-of-ours', errors)).toBeLessThan(12 * 5 * MINUTE_MS);
});

it('a failed request delays the next attempt as the retry policy sets', async () => {
  const failed = ApplicationFailure.create({ message: 'HTTP 500', nextRetryDelay: 6 * HOUR_MS });
  expect(await deliverAfter('failed-request', [failed])).toBeGreaterThanOrEqual(6 * HOUR_MS);
});
