import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../db/pool';
import type { Sealer } from '../sealing';
import { requireRow } from '../db/require-row';
import { newSecret, endpointNotFound } from './webhook-endpoints';

export interface RotatedSecret {
  readonly id: string;
  readonly merchantId: string;
  /** The new secret; only this result contains it. */
  readonly secret: string;
  /** Until then webhooks are signed with the old and the new secret. */
  readonly oldSecretExpiresAt: Date;
}

/**
 * Creates a new secret for an endpoint. Older secrets stay valid for the overlap; 0 invalidates them immediately.
 * @throws NotFoundError if there is no such endpoint
 */
export async function rotateSecret(
  db: Queryable,
  sealer: Sealer,
  endpointId: string,
  overlapSeconds: number,
): Promise<RotatedSecret> {
  const secret = newSecret();
  const { rows } = await db.query<Omit<RotatedSecret, 'secret'>>(
    `with endpoint as (
       select id, merchant_id, now() + make_interval(secs => $2) as ends from webhook_endpoints where id = $1
     ),
     old as (
       update webhook_secrets set expires_at = endpoint.ends from endpoint
       where endpoint_id = endpoint.id and (expires_at is null or expires_at > endpoint.ends)
     ),
     new as (
       insert into webhook_secrets (id, endpoint_id, sealed_secret) select $3, id, $4 from endpoint
     )
     select id, merchant_id as "merchantId", ends::timestamptz(3) as "oldSecretExpiresAt" from endpoint`,
    [endpointId, overlapSeconds, uuidv7(), sealer.seal(secret, 'webhook-secret')],
  );
  return { ...requireRow(rows, endpointNotFound(endpointId)), secret };
}
