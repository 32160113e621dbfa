import { ApplicationFailure, Context } from '@temporalio/activity';
import { findDelivery, recordAttempt } from '../src/webhooks/deliveries';
import { judgeTry } from '../src/webhooks/retry-policy';
import type { ActivityDependencies } from './dependencies';

/**
 * One more try of a delivery whose first one, the relay's, failed. Temporal tries again after the wait that the policy
 * gives; after the last try, and when the receiver is gone for good, the delivery is dead. Only tries in the log count: an
 * attempt of this activity that never came to send costs none.
 */
export async function deliverWebhook(
  { db, sealer, webhooks }: ActivityDependencies,
  deliveryId: string,
): Promise<'delivered' | 'dead'> {
  const delivery = await findDelivery(db, sealer, deliveryId);
  if (delivery.status !== 'pending') return delivery.status;

  const tries = delivery.attempts + 1;
  const attempt = await webhooks.send(delivery, Context.current().cancellationSignal);
  const verdict = judgeTry(tries, attempt);
  if (verdict.becomes !== 'retried') {
    await recordAttempt(db, deliveryId, attempt, verdict);
    return verdict.becomes;
  }
  await recordAttempt(db, deliveryId, attempt, { becomes: 'pending' });
  throw ApplicationFailure.create({
    message: `Try ${tries} failed: ${attempt.failure}`,
    type: 'WebhookNotDelivered',
    nextRetryDelay: Math.round(verdict.waitSeconds * 1_000),
  });
}
