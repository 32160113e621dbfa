import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../db/connection/pool';
import { requireRow } from '../db/connection/require-row';
import { openSecrets, type SecretReader } from './open-secrets';
import { VALID_SECRETS, type SealedSecret } from './outbox';
import { RESET_HEALTH } from './record-attempt';
import type { WebhookAttempt, WebhookSender } from './send';

/** The value of `X-Service-Event`; no payment event has this name. */
const PING_EVENT = 'ping';

export interface PingDependencies extends SecretReader {
  readonly db: Queryable;
  readonly sender: WebhookSender;
}

export interface Ping extends WebhookAttempt {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly url: string;
}

/**
 * Sends a signed test request immediately, with the rules of every webhook, also to a disabled endpoint. It creates no
 * delivery. A success resets the endpoint's health, so that its waiting deliveries are sent.
 * An operator's command calls this itself, the dashboard by the workflow `webhookPing`.
 * @param merchantId to which the endpoint has to belong; absent: an operator requests it
 * @throws NotFoundError if there is no such endpoint
 */
export async function sendPing(dependencies: PingDependencies, endpointId: string, merchantId?: string): Promise<Ping> {
  const { db, sender } = dependencies;
  const { rows } = await db.query<{ url: string; sealedSecrets: SealedSecret[] }>(
    `select endpoint.url, ${VALID_SECRETS} as "sealedSecrets" from webhook_endpoints endpoint
     where endpoint.id = $1 and ($2::uuid is null or endpoint.merchant_id = $2) and endpoint.deleted_at is null`,
    [endpointId, merchantId],
  );
  const { url, sealedSecrets } = requireRow(rows, 'endpoint', endpointId);
  const deliveryId = uuidv7();
  const attempt = await sender.send({
    deliveryId,
    event: PING_EVENT,
    body: JSON.stringify({ event: PING_EVENT, endpoint_id: endpointId, created_at: new Date().toISOString() }),
    url,
    secrets: openSecrets(dependencies, deliveryId, sealedSecrets),
  });
  if (attempt.failure === null) {
    await db.query(`update webhook_endpoints set ${RESET_HEALTH} where id = $1 and consecutive_failures > 0`, [
      endpointId,
    ]);
  }
  return { ...attempt, deliveryId, endpointId, url };
}
