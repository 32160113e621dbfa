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

export interface DeliveryAttempt extends WebhookAttempt {
  /** It was not made for a reason that is Lunas's own: the endpoint is not to blame. */
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
  const secrets = openSecrets(dependencies, delivery);
  const expanded = await dependencies.expandBody(delivery).catch((cause: unknown) => {
    throw new Error('the body could not be made', { cause });
  });
  return { ...expanded, secrets };
}

/** Those that can be opened: while two are valid, the receiver accepts each. @throws if there are only others */
function openSecrets({ sealer, log }: AttemptDependencies, { deliveryId, sealedSecrets }: Delivery): string[] {
  const opened: string[] = [];
  const errors = new Map<string, unknown>();
  for (const sealed of sealedSecrets) {
    try {
      opened.push(openSecret(sealed, sealer));
    } catch (error) {
      errors.set(sealed.id, error);
    }
  }
  const [cause] = errors.values();
  if (errors.size > 0 && opened.length === 0) throw new Error("the endpoint's secret could not be opened", { cause });
  if (errors.size > 0) {
    log.error({ err: cause, delivery: deliveryId, secrets: [...errors.keys()] }, 'webhook secret not opened');
  }
  return opened;
}
