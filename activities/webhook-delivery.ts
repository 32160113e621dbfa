import { Context } from '@temporalio/activity';
import { subjectLogId } from '../src/domain/subject';
import { addLogIds, joinCorrelation } from '../src/observability/correlation';
import { attemptDelivery } from '../src/webhooks/attempt-delivery';
import { logAttempt } from '../src/webhooks/log-attempt';
import { findDelivery } from '../src/webhooks/outbox';
import { recordDelivered, recordEndpointDisabled, recordFailed } from '../src/webhooks/record-attempt';
import { decideRetry, MAX_ATTEMPTS } from '../src/webhooks/retry-policy';
import type { ActivityDependencies } from './dependencies';
import { webhookDeliveryError } from './errors';
import { unchecked } from './verify-terms';

/** The final result of a delivery. */
export interface WebhookDeliveryResult {
  readonly status: 'delivered' | 'dead';
  readonly attempts: number;
  /** Null if the last attempt succeeded, or something else than an attempt made the delivery final. */
  readonly lastFailure: string | null;
}

/**
 * Makes one more attempt of a delivery after the relay's first one failed. Temporal repeats the activity after the
 * delay of the retry policy. After the last attempt, or if the endpoint is gone, the delivery is dead. Only logged
 * attempts count: if the worker stops before or during a request, that request is not counted.
 */
export async function deliverWebhook(
  { db, sealer, webhooks, expandBody, log }: ActivityDependencies,
  deliveryId: string,
): Promise<WebhookDeliveryResult> {
  const { cancellationSignal } = Context.current();
  const delivery = await findDelivery(db, deliveryId);
  addLogIds(subjectLogId(delivery.subject));
  if (delivery.correlation) joinCorrelation(delivery.correlation);
  if (delivery.status !== 'pending')
    return { status: delivery.status, attempts: delivery.attemptsInCycle, lastFailure: null };

  if (delivery.endpointStatus === 'disabled') {
    await recordEndpointDisabled(db, deliveryId);
    return { status: 'dead', attempts: delivery.attemptsInCycle, lastFailure: null };
  }

  const attempts = delivery.attemptsInCycle + 1;
  const attempt = await attemptDelivery({ sender: webhooks, sealer, expandBody, log }, delivery, cancellationSignal);
  const decision = decideRetry(attempts, attempt);
  logAttempt(log, { delivery, attempt, number: attempts, decision });
  if (decision.next === 'delivered') {
    await recordDelivered(db, [{ delivery, attempt }]);
    return { status: 'delivered', attempts, lastFailure: null };
  }
  cancellationSignal.throwIfAborted();
  const deadReason = decision.next === 'dead' ? decision.reason : null;
  const { status } = await recordFailed(db, delivery, attempt, { by: 'workflow', deadReason });
  if (status !== 'pending') return { status, attempts, lastFailure: attempt.failure };
  const delaySeconds = decision.next === 'retry' ? decision.delaySeconds : undefined;
  throw webhookDeliveryError(`Attempt ${attempts} of ${MAX_ATTEMPTS} failed: ${attempt.failure}`, delaySeconds);
}
deliverWebhook.checked = unchecked(deliverWebhook);
