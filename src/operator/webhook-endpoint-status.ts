import type { Queryable } from '../db/pool';
import { RESET_HEALTH } from '../webhooks/record-attempt';
import { markDead } from '../webhooks/mark-dead';
import { findEndpoint, type WebhookEndpoint } from './webhook-endpoints';

/**
 * Nothing is sent to it any more. What is pending for it is dead for that reason, and can be redelivered once it is
 * enabled again. One that is disabled already stays so, for the reason that it has. It is disabled from the first statement on;
 * its deliveries are ended in batches, by the relay too if this call dies.
 * @throws UserError when there is no such endpoint
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
 * New events are sent to it again, as if it had never failed.
 * @throws UserError when there is no such endpoint
 */
export async function enableEndpoint(db: Queryable, endpointId: string): Promise<WebhookEndpoint> {
  await db.query(
    `update webhook_endpoints set status = 'enabled', disabled_reason = null, ${RESET_HEALTH} where id = $1`,
    [endpointId],
  );
  return findEndpoint(db, endpointId);
}
