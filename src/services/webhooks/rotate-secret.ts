import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { newWebhookSecret } from '../../webhooks/sign';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { findEndpoint, type WebhookEndpoint } from './webhook-endpoints';

interface RotatedSecret extends Pick<WebhookEndpoint, 'id' | 'merchantId'> {
  /** The new secret; nothing else has it. Null: the same form has made it before. */
  readonly secret: string | null;
  /** Until then webhooks are signed with the old and the new secret. */
  readonly oldSecretExpiresAt: Date;
}

interface RotateDependencies extends AuditDependencies {
  readonly sealer: Sealer;
}

/**
 * Creates a new secret for an endpoint. Older secrets stay valid for the overlap; 0 invalidates them immediately. The
 * id of the secret is that of the form, so a form that is sent twice makes one.
 */
export const rotateSecret = new Operation({
  name: 'webhook.rotate_secret',
  member: { area: 'developers', level: 'manage', stepUp: true },
  operator: 'all',
  path: z.object({ endpoint: z.uuid() }),
  input: z.object({ overlapSeconds: z.int().min(0) }),
  rejections: {
    /** The id of the form is that of another object. */
    form_reused: {},
  },
  messages: { form_reused: () => 'The id of the request is that of another secret.' },
  load: ({ db }: RotateDependencies, scope, { endpoint }) => findEndpoint(db, scope, endpoint),
  target: ({ subject }) => subject.id,
  async earlier({ needs: { db }, subject, formId }) {
    const endpoint = await findRotated(db, subject, formId);
    return endpoint && { endpoint, isOldEnded: false };
  },
  async perform({ needs: { db, sealer }, subject, input: { overlapSeconds }, formId }) {
    const rotated = await insertSecret(db, sealer, { endpointId: subject.id, secretId: formId, overlapSeconds });
    // The same form was sent twice within a moment.
    const endpoint = rotated ?? (await findRotated(db, subject, formId));
    if (endpoint !== null) return done({ endpoint, isOldEnded: overlapSeconds === 0 });
    await findEndpoint(db, subject, subject.id);
    return rejected({ reason: 'form_reused' });
  },
});

interface NewSecret {
  readonly endpointId: string;
  readonly secretId: string;
  readonly overlapSeconds: number;
}

/** One statement. Null: there is a secret with this id, or the endpoint was deleted. */
async function insertSecret(
  db: Queryable,
  sealer: Sealer,
  { endpointId, secretId, overlapSeconds }: NewSecret,
): Promise<RotatedSecret | null> {
  const secret = newWebhookSecret();
  const { rows } = await db.query<Omit<RotatedSecret, 'secret'>>(
    `with endpoint as (
       select id, merchant_id, now() + make_interval(secs => $2) as ends from webhook_endpoints
       where id = $1 and deleted_at is null and not exists (select from webhook_secrets where id = $3)
     ),
     old as (
       update webhook_secrets set expires_at = endpoint.ends from endpoint
       where endpoint_id = endpoint.id and (expires_at is null or expires_at > endpoint.ends)
     ),
     new as (
       insert into webhook_secrets (id, endpoint_id, sealed_secret) select $3, id, $4 from endpoint
       on conflict (id) do nothing returning endpoint_id
     )
     select endpoint.id, merchant_id as "merchantId", ends::timestamptz(3) as "oldSecretExpiresAt"
     from endpoint join new on endpoint_id = endpoint.id`,
    [endpointId, overlapSeconds, secretId, sealer.seal(secret, ['webhook-secret', secretId])],
  );
  return rows[0] === undefined ? null : { ...rows[0], secret };
}

/** The rotation that the same form has made before; null: it has made none. */
async function findRotated(
  db: Queryable,
  { id, merchantId }: WebhookEndpoint,
  secretId: string,
): Promise<RotatedSecret | null> {
  const { rows } = await db.query<Pick<RotatedSecret, 'oldSecretExpiresAt'>>(
    `select coalesce((select max(expires_at) from webhook_secrets where endpoint_id = $2), created_at)
       as "oldSecretExpiresAt"
     from webhook_secrets where id = $1 and endpoint_id = $2`,
    [secretId, id],
  );
  return rows[0] === undefined ? null : { id, merchantId, secret: null, ...rows[0] };
}
