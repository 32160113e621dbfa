import { ApplicationFailure, Context } from '@temporalio/activity';
import { findDelivery } from '../src/webhooks/outbox';
import { recordDelivered, recordEndpointDisabled, recordFailed } from '../src/webhooks/record-attempt';
import { decideRetry, MAX_ATTEMPTS } from '../src/webhooks/retry-policy';
import type { ActivityDependencies } from './dependencies';

/** How a delivery ended. */
export interface WebhookDeliveryResult {
  readonly status: 'delivered' | 'dead';
  readonly attempts: number;
  /** Null where the last try succeeded, or the delivery was ended from outside. */
  readonly lastFailure: string | null;
}

/**
 * One more try of a delivery whose first one, the relay's, failed. Temporal tries again after the wait that the policy
 * gives; after the last try, and when the receiver is gone for good, the delivery is dead. Only tries in the log count: an
 * attempt of this activity that never came to send, or was cut off by a worker that stops, costs none.
 */
export async function deliverWebhook(
  { db, sealer, webhooks }: ActivityDependencies,
  deliveryId: string,
): Promise<WebhookDeliveryResult> {
  const { cancellationSignal } = Context.current();
  const delivery = await findDelivery(db, sealer, deliveryId);
  if (delivery.status !== 'pending')
    return { status: delivery.status, attempts: delivery.attemptsInCycle, lastFailure: null };

  if (delivery.endpointStatus === 'disabled') {
    await recordEndpointDisabled(db, deliveryId);
    return { status: 'dead', attempts: delivery.attemptsInCycle, lastFailure: null };
  }

  const attempts = delivery.attemptsInCycle + 1;
  const attempt = await webhooks.send(delivery, cancellationSignal);
  const decision = decideRetry(attempts, attempt);
  if (decision.next === 'delivered') {
    await recordDelivered(db, [{ delivery, attempt }]);
    return { status: 'delivered', attempts, lastFailure: null };
  }
  cancellationSignal.throwIfAborted();
  const deadReason = decision.next === 'dead' ? decision.reason : null;
  const { status } = await recordFailed(db, delivery, attempt, { by: 'workflow', deadReason });
  if (status !== 'pending') return { status, attempts, lastFailure: attempt.failure };
  throw ApplicationFailure.create({
    message: `Try ${attempts} of ${MAX_ATTEMPTS} failed: ${attempt.failure}`,
    type: 'WebhookDeliveryFailed',
    ...(decision.next === 'retry' && { nextRetryDelay: Math.round(decision.delaySeconds * 1_000) }),
  });
}
