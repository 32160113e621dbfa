import { v7 as uuidv7 } from 'uuid';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { DeclaredAction } from '../../domain/declared-action';
import { openSecret } from '../../webhooks/open-secrets';
import type { SealedSecret } from '../../webhooks/outbox';
import { newWebhookSecret } from '../../webhooks/sign';
import { insertOnce, IS_NAMED, type WebhookEndpoint } from './webhook-endpoints';

export interface RotatedSecret extends Pick<WebhookEndpoint, 'id' | 'merchantId'> {
  /** The new secret; only this result contains it. */
  readonly secret: string;
  /** Until then webhooks are signed with the old and the new secret. */
  readonly oldSecretExpiresAt: Date;
}

export const ROTATE_SECRET = new DeclaredAction('webhook.rotate_secret');

/** A rotation that a merchant requests by a form. */
interface OwnRotation {
  readonly merchantId: string;
  /** The id of the new secret: a form that is sent twice makes one. */
  readonly secretId: string;
}

/**
 * Creates a new secret for an endpoint. Older secrets stay valid for the overlap; 0 invalidates them immediately.
 * @throws NotFoundError if there is no such endpoint
 * @throws ConflictError `secret_exists` if this rotation was made before
 */
export async function rotateSecret(
  db: Queryable,
  sealer: Sealer,
  endpointId: string,
  overlapSeconds: number,
  { merchantId, secretId }: Partial<OwnRotation> & Pick<OwnRotation, 'secretId'> = { secretId: uuidv7() },
): Promise<RotatedSecret> {
  const secret = newWebhookSecret();
  const { rows } = await insertOnce('secret_exists', () =>
    db.query<Omit<RotatedSecret, 'secret'>>(
      `with endpoint as (
       select id, merchant_id, now() + make_interval(secs => $3) as ends from webhook_endpoints endpoint
       where ${IS_NAMED}
     ),
     old as (
       update webhook_secrets set expires_at = endpoint.ends from endpoint
       where endpoint_id = endpoint.id and (expires_at is null or expires_at > endpoint.ends)
     ),
     new as (
       insert into webhook_secrets (id, endpoint_id, sealed_secret) select $4, id, $5 from endpoint
     )
     select id, merchant_id as "merchantId", ends::timestamptz(3) as "oldSecretExpiresAt" from endpoint`,
      [endpointId, merchantId, overlapSeconds, secretId, sealer.seal(secret, ['webhook-secret', secretId])],
    ),
  );
  return { ...requireRow(rows, 'endpoint', endpointId), secret };
}

/** The newest secret of the merchant's newest enabled endpoint; null if there is none. */
export async function findNewestSecret(db: Queryable, sealer: Sealer, merchantId: string): Promise<string | null> {
  const { rows } = await db.query<SealedSecret>(
    `select secret.id, secret.sealed_secret as sealed
     from webhook_endpoints endpoint join webhook_secrets secret on secret.endpoint_id = endpoint.id
     where endpoint.merchant_id = $1 and endpoint.status = 'enabled' and secret.expires_at is null
     order by endpoint.created_at desc, endpoint.id desc, secret.created_at desc limit 1`,
    [merchantId],
  );
  return rows[0] ? openSecret(rows[0], sealer) : null;
}
