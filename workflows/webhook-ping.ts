import { PING_TIMEOUT_MS, type PingReport, type WebhookPingInput } from '../src/domain/ping-report';
import { authentic } from './authentic';
import { regularActivities } from './regular-activities';

/** A ping is not repeated: the user who requested it sees the failure, and can ping again. */
const { pingWebhook } = regularActivities({
  startToCloseTimeout: PING_TIMEOUT_MS,
  scheduleToCloseTimeout: PING_TIMEOUT_MS,
  retry: { maximumAttempts: 1 },
  summary: 'send a test request',
});

/** Sends a signed test request to an endpoint of a merchant, for the dashboard, which has no webhook secret. */
export async function webhookPing(input: WebhookPingInput): Promise<PingReport> {
  return authentic(await pingWebhook(authentic(input)));
}
