import type { Queryable } from '../db/pool';
import { RESET_HEALTH } from '../webhooks/record-attempt';
import { markDead } from '../webhooks/mark-dead';
import { findEndpoint, type WebhookEndpoint } from './webhook-endpoints';

/**
 * Disables an endpoint. Its pending deliveries become dead; an operator can redeliver them after the endpoint is
 * enabled again. An endpoint that is disabled already keeps its reason. The deliveries are marked dead in batches; the
 * relay continues this if the process ends.
 * @throws NotFoundError if there is no such endpoint
 */
export async function disableEndpoint(db: Queryable, endpointId: string): Promise<WebhookEndpoint> {
  await db.query(
    `update webhook_endpoints set status = 'disabled', disabled_reason = 'operator'
     where id = $1 and status = 'enabled'`,
    [endpointId],
  );
  await markDead(db, endpointId);
  return findEndpoint(db, endpointId);
}

/**
 * Enables an endpoint and resets its health.
 * @throws NotFoundError if there is no such endpoint
 */
export async function enableEndpoint(db: Queryable, endpointId: string): Promise<WebhookEndpoint> {
  await db.query(
    `update webhook_endpoints set status = 'enabled', disabled_reason = null, ${RESET_HEALTH} where id = $1`,
    [endpointId],
  );
  return findEndpoint(db, endpointId);
}
