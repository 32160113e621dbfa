import type { Queryable } from '../db/pool';
import { IS_WELL } from '../webhooks/record-attempt';
import { findEndpoint, type WebhookEndpoint } from './webhook-endpoints';

/**
 * Nothing is sent to it any more. What is pending for it is dead for that reason, and can be redelivered once it is
 * enabled again. One that is disabled already stays so, for the reason that it has.
 * @throws UserError when there is no such endpoint
 */
export async function disableEndpoint(db: Queryable, endpointId: string): Promise<WebhookEndpoint> {
  await db.query(
    `with endpoint as (
       update webhook_endpoints set status = 'disabled', disabled_reason = 'operator'
       where id = $1 and status = 'enabled' returning id
     )
     update webhook_deliveries set status = 'dead', dead_reason = 'endpoint_disabled', finished_at = now()
     from endpoint where endpoint_id = endpoint.id and status = 'pending'`,
    [endpointId],
  );
  return findEndpoint(db, endpointId);
}

/**
 * New events are sent to it again, as if it had never failed.
 * @throws UserError when there is no such endpoint
 */
export async function enableEndpoint(db: Queryable, endpointId: string): Promise<WebhookEndpoint> {
  await db.query(`update webhook_endpoints set status = 'enabled', disabled_reason = null, ${IS_WELL} where id = $1`, [
    endpointId,
  ]);
  return findEndpoint(db, endpointId);
}
