import { ApplicationFailure, Context } from '@temporalio/activity';
import { findDelivery } from '../src/webhooks/deliveries';
import { recordDelivered, recordEndpointDisabled, recordFailed } from '../src/webhooks/record-attempt';
import { judgeTry, MAX_TRIES } from '../src/webhooks/retry-policy';
import type { ActivityDependencies } from './dependencies';

/** How a delivery ended. */
export interface WebhookDeliveryEnd {
  readonly status: 'delivered' | 'dead';
  readonly tries: number;
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
): Promise<WebhookDeliveryEnd> {
  const { cancellationSignal } = Context.current();
  const delivery = await findDelivery(db, sealer, deliveryId);
  if (delivery.status !== 'pending') return { status: delivery.status, tries: delivery.tries, lastFailure: null };

  if (delivery.endpointStatus === 'disabled') {
    await recordEndpointDisabled(db, deliveryId);
    return { status: 'dead', tries: delivery.tries, lastFailure: null };
  }

  const tries = delivery.tries + 1;
  const attempt = await webhooks.send(delivery, cancellationSignal);
  const verdict = judgeTry(tries, attempt);
  if (verdict.becomes === 'delivered') {
    await recordDelivered(db, [{ delivery, attempt }]);
    return { status: 'delivered', tries, lastFailure: null };
  }
  cancellationSignal.throwIfAborted();
  const deadReason = verdict.becomes === 'dead' ? verdict.reason : null;
  const { status } = await recordFailed(db, delivery, attempt, { by: 'workflow', deadReason });
  if (status !== 'pending') return { status, tries, lastFailure: attempt.failure };
  throw ApplicationFailure.create({
    message: `Try ${tries} of ${MAX_TRIES} failed: ${attempt.failure}`,
    type: 'WebhookNotDelivered',
    ...(verdict.becomes === 'retried' && { nextRetryDelay: Math.round(verdict.waitSeconds * 1_000) }),
  });
}
