import type { Sealer } from '../crypto/sealing';
import { sendsPersonalData } from '../domain/expansions';
import { messageOf } from '../errors';
import type { Logger } from '../observability/logger';
import { openSecret, type Delivery, type ExpandBody } from './outbox';
import { NO_RESPONSE, type OutgoingWebhook, type WebhookAttempt, type WebhookSender } from './send';

interface AttemptDependencies {
  readonly sender: WebhookSender;
  readonly sealer: Sealer;
  readonly expandBody: ExpandBody;
  readonly log: Pick<Logger, 'error'>;
}

/**
 * Makes one attempt of a delivery. It fails also if body or signature cannot be made, so that it counts, and that such
 * a delivery is dead one day. A receiver may return what it got: no response to personal data is kept.
 */
export async function attemptDelivery(
  dependencies: AttemptDependencies,
  delivery: Delivery,
  signal?: AbortSignal,
): Promise<WebhookAttempt> {
  const startedAt = new Date();
  const webhook = await prepare(dependencies, delivery).catch((error: unknown) => {
    dependencies.log.error({ err: error, delivery: delivery.deliveryId }, 'webhook not sent');
    return { failure: `not called: ${messageOf(error)}` };
  });
  if ('failure' in webhook) {
    return { startedAt, durationMs: Date.now() - startedAt.getTime(), ...NO_RESPONSE, failure: webhook.failure };
  }
  const attempt = await dependencies.sender.send(webhook, signal);
  return sendsPersonalData(delivery.expand) ? { ...attempt, responseExcerpt: null } : attempt;
}

/** The message of its error is for the merchant; only the cause has details. */
async function prepare({ sealer, expandBody }: AttemptDependencies, delivery: Delivery): Promise<OutgoingWebhook> {
  const secrets = openSecrets(sealer, delivery);
  const expanded = await expandBody(delivery).catch((cause: unknown) => {
    throw new Error('the body could not be made', { cause });
  });
  return { ...expanded, secrets };
}

function openSecrets(sealer: Sealer, { sealedSecrets }: Delivery): string[] {
  try {
    return sealedSecrets.map((sealed) => openSecret(sealed, sealer));
  } catch (cause) {
    throw new Error("the endpoint's secret could not be opened", { cause });
  }
}
