import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { DeclaredAction } from '../../domain/declared-action';
import type { WebhookSender } from '../../webhooks/send';
import { sendPing, type Ping } from '../../webhooks/send-ping';

export const PING_ENDPOINT = new DeclaredAction('webhook.ping');

/**
 * Pings an endpoint for an operator, from this process. The dashboard requests it from the workflow `webhookPing`.
 * @throws NotFoundError if there is no such endpoint
 */
export function pingEndpoint(db: Queryable, sealer: Sealer, sender: WebhookSender, endpointId: string): Promise<Ping> {
  return sendPing(db, sealer, sender, endpointId);
}
