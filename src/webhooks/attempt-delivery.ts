import { sendsPersonalData } from '../domain/expansions';
import { messageOf } from '../errors';
import { openSecrets, type SecretReader } from './open-secrets';
import type { Delivery, ExpandBody } from './outbox';
import { NO_RESPONSE, type OutgoingWebhook, type WebhookAttempt, type WebhookSender } from './send';

interface AttemptDependencies extends SecretReader {
  readonly sender: WebhookSender;
  readonly expandBody: ExpandBody;
}

export interface DeliveryAttempt extends WebhookAttempt {
  /** Whether the attempt was not made for a reason that is Lunas's own: the endpoint is not to blame. */
  readonly isOwnFault: boolean;
}

/**
 * Makes one attempt of a delivery. It fails also if body or signature cannot be made, so that it counts, and that such
 * a delivery is dead one day. A receiver may return what it got: no response to personal data is kept.
 */
export async function attemptDelivery(
  dependencies: AttemptDependencies,
  delivery: Delivery,
  signal?: AbortSignal,
): Promise<DeliveryAttempt> {
  const startedAt = new Date();
  const webhook = await prepare(dependencies, delivery).catch((error: unknown) => {
    dependencies.log.error({ err: error, delivery: delivery.deliveryId }, 'webhook not sent');
    return { failure: `not called: ${messageOf(error)}` };
  });
  if ('failure' in webhook) {
    const durationMs = Date.now() - startedAt.getTime();
    return { startedAt, durationMs, ...NO_RESPONSE, failure: webhook.failure, isOwnFault: true };
  }
  const attempt = { ...(await dependencies.sender.send(webhook, signal)), isOwnFault: false };
  return sendsPersonalData(delivery.expand) ? { ...attempt, responseExcerpt: null } : attempt;
}

/** The message of its error is for the merchant; only the cause has details. */
async function prepare(dependencies: AttemptDependencies, delivery: Delivery): Promise<OutgoingWebhook> {
  const secrets = openSecrets(dependencies, delivery.deliveryId, delivery.sealedSecrets);
  const expanded = await dependencies.expandBody(delivery).catch((cause: unknown) => {
    throw new Error('the body could not be made', { cause });
  });
  return { ...expanded, secrets };
}
