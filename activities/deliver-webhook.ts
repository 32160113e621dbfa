import { ApplicationFailure, Context } from '@temporalio/activity';
import { findDelivery, recordAttempt, type AfterTry } from '../src/webhooks/deliveries';
import { waitAfterTry } from '../src/webhooks/retry-policy';
import type { ActivityDependencies } from './dependencies';

const GONE = 410;

/**
 * One more try of a delivery whose first one, the relay's, failed. Temporal tries again after the wait that the policy
 * gives; after the last try, and when the receiver is gone for good, the delivery is dead.
 */
export async function deliverWebhook(
  { db, sealer, webhooks }: ActivityDependencies,
  deliveryId: string,
): Promise<'delivered' | 'dead'> {
  const delivery = await findDelivery(db, sealer, deliveryId);
  if (delivery.status !== 'pending') return delivery.status;

  const { info, cancellationSignal } = Context.current();
  const tries = info.attempt + 1;
  const attempt = await webhooks.send(delivery, cancellationSignal);
  const waitSeconds = waitAfterTry(tries, attempt.retryAfterSeconds ?? undefined);
  const after = afterTry(attempt.failure, attempt.statusCode, waitSeconds);
  await recordAttempt(db, deliveryId, attempt, after);
  if (after.becomes !== 'pending') return after.becomes;
  throw ApplicationFailure.create({
    message: `Try ${tries} failed: ${attempt.failure}`,
    type: 'WebhookNotDelivered',
    nextRetryDelay: Math.round((waitSeconds ?? 0) * 1_000),
  });
}

function afterTry(
  failure: string | null,
  statusCode: number | null,
  waitSeconds: number | undefined,
): AfterTry & { becomes: 'delivered' | 'pending' | 'dead' } {
  if (failure === null) return { becomes: 'delivered' };
  if (statusCode === GONE) return { becomes: 'dead', reason: 'endpoint_gone' };
  if (waitSeconds === undefined) return { becomes: 'dead', reason: 'tries_exhausted' };
  return { becomes: 'pending' };
}
