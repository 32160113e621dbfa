import { sendsPersonalData } from '../domain/expansions';
import type { Logger } from '../observability/logger';
import type { Delivery, ExpandBody } from './outbox';
import { NO_RESPONSE, type WebhookAttempt, type WebhookSender } from './send';

interface AttemptDependencies {
  readonly sender: WebhookSender;
  readonly expandBody: ExpandBody;
  readonly log: Pick<Logger, 'error'>;
}

/**
 * Makes one attempt of a delivery. It fails also if the body cannot be made, so that it counts, and that such a
 * delivery is dead one day. A receiver may return what it got: no response to personal data is kept.
 */
export async function attemptDelivery(
  { sender, expandBody, log }: AttemptDependencies,
  delivery: Delivery,
  signal?: AbortSignal,
): Promise<WebhookAttempt> {
  const startedAt = new Date();
  const expanded = await expandBody(delivery).catch((error: unknown) => {
    log.error({ err: error, delivery: delivery.deliveryId }, 'body of a webhook not made');
    return undefined;
  });
  if (!expanded) {
    const durationMs = Date.now() - startedAt.getTime();
    return { startedAt, durationMs, ...NO_RESPONSE, failure: 'not called: the body could not be made' };
  }
  const attempt = await sender.send(expanded, signal);
  return sendsPersonalData(delivery.expand) ? { ...attempt, responseExcerpt: null } : attempt;
}
