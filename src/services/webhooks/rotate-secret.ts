import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { newWebhookSecret } from '../../webhooks/sign';
import { hasMember } from '../merchants/managed-merchant';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import type { SealingDependencies } from '../provider-accounts/provider-accounts';
import { findEndpoint, type WebhookEndpoint } from './webhook-endpoints';

interface RotatedSecret extends Pick<WebhookEndpoint, 'id' | 'merchantId'> {
  /** The new secret; nothing else has it. Null: the same form has made it before, or an operator has it. */
  readonly secret: string | null;
  /** Until then webhooks are signed with the old and the new secret. */
  readonly oldSecretExpiresAt: Date;
}

/**
 * Creates a new secret for an endpoint. Older secrets stay valid for the overlap; 0 invalidates them immediately. The
 * id of the secret is that of the form, so a form that is sent twice makes one. Who has the secret can sign what a shop
 * believes: if the merchant has members, two operators decide. Until then the secret is proposed, sealed, and signs
 * nothing.
 */
export const rotateSecret = new Operation({
  name: 'webhook.rotate_secret',
  member: { area: 'developers', level: 'manage', stepUp: true },
  operator: 'all',
  path: z.object({ endpoint: z.uuid() }),
  input: z.object({
    overlapSeconds: z.int().min(0),
    /** What an operator passes on. Absent: the operation makes it, or it is proposed. */
    secret: z.string().optional().meta({ isSecret: true }),
    /** Names the proposed secret. */
    secretId: z.uuid().optional(),
  }),
  rejections: {
    /** The id of the form is that of another object. */
    form_reused: {},
  },
  messages: { form_reused: () => 'The id of the request is that of another secret.' },
  async load({ db }: SealingDependencies, scope, { endpoint: id }) {
    const endpoint = await findEndpoint(db, scope, id);
    return { ...endpoint, hasMember: await hasMember(db, endpoint.merchantId) };
  },
  target: ({ subject }) => subject.id,
  approval: {
    executes: 'database',
    isExempt: (endpoint) => !endpoint.hasMember,
    propose({ needs, subject: { id }, input: { overlapSeconds, secret }, formId: secretId }) {
      if (secret === undefined) return null;
      const store = async () => proposeSecret(needs.db, await needs.loadSealer(), { endpointId: id, secretId, secret });
      return { parameters: { endpoint: id, overlapSeconds, secretId }, store };
    },
  },
  async earlier({ needs: { db }, subject, input: { secretId }, formId }) {
    const endpoint = secretId === undefined ? await findRotated(db, subject, formId) : null;
    return endpoint && { endpoint, isOldEnded: false };
  },
  async perform({ needs, subject, input: { overlapSeconds, secretId, secret = newWebhookSecret() }, formId }) {
    const isOldEnded = overlapSeconds === 0;
    const rotation = { endpointId: subject.id, overlapSeconds };
    if (secretId !== undefined) {
      return done({ endpoint: await acceptSecret(needs.db, { ...rotation, secretId }), isOldEnded });
    }
    const rotated = await insertSecret(needs.db, await needs.loadSealer(), { ...rotation, secretId: formId, secret });
    // The same form was sent twice within a moment.
    const endpoint = rotated ?? (await findRotated(needs.db, subject, formId));
    if (endpoint !== null) return done({ endpoint, isOldEnded });
    await findEndpoint(needs.db, subject, subject.id);
    return rejected({ reason: 'form_reused' });
  },
});

interface NewSecret {
  readonly endpointId: string;
  readonly secretId: string;
  readonly secret: string;
}

interface Rotation extends Omit<NewSecret, 'secret'> {
  readonly overlapSeconds: number;
}

/**
 * One statement, in which `begin` makes the secret $3 valid, and the others of the endpoint $1 end after $2 seconds.
 * Without the condition it changes nothing, nor does it for an endpoint that was deleted.
 */
const rotationIf = (condition: string, begin: string) =>
  `with endpoint as (
     select id, merchant_id, now() + make_interval(secs => $2) as ends from webhook_endpoints
     where id = $1 and deleted_at is null and ${condition}
   ),
   old as (
     update webhook_secrets set expires_at = endpoint.ends from endpoint
     where endpoint_id = endpoint.id and webhook_secrets.id <> $3 and (expires_at is null or expires_at > endpoint.ends)
   ),
   new as (${begin} returning endpoint_id)
   select endpoint.id, merchant_id as "merchantId", ends::timestamptz(3) as "oldSecretExpiresAt"
   from endpoint join new on endpoint_id = endpoint.id`;

const INSERT = rotationIf(
  'not exists (select from webhook_secrets where id = $3)',
  `insert into webhook_secrets (id, endpoint_id, sealed_secret) select $3, id, $4 from endpoint
   on conflict (id) do nothing`,
);

const ACCEPT = rotationIf(
  'exists (select from webhook_secrets where id = $3 and endpoint_id = $1)',
  `update webhook_secrets set expires_at = null from endpoint
   where webhook_secrets.id = $3 and endpoint_id = endpoint.id`,
);

/** Null: there is a secret with this id, or the endpoint was deleted. */
async function insertSecret(
  db: Queryable,
  sealer: Sealer,
  { endpointId, secretId, secret, overlapSeconds }: NewSecret & Rotation,
): Promise<RotatedSecret | null> {
  const sealed = sealer.seal(secret, ['webhook-secret', secretId]);
  const { rows } = await db.query<Omit<RotatedSecret, 'secret'>>(INSERT, [
    endpointId,
    overlapSeconds,
    secretId,
    sealed,
  ]);
  return rows[0] === undefined ? null : { ...rows[0], secret };
}

/** Stores a secret that signs nothing until it is accepted. */
async function proposeSecret(
  db: Queryable,
  sealer: Sealer,
  { endpointId, secretId, secret }: NewSecret,
): Promise<void> {
  await db.query(
    `insert into webhook_secrets (id, endpoint_id, sealed_secret, expires_at) values ($1, $2, $3, '-infinity')`,
    [secretId, endpointId, sealer.seal(secret, ['webhook-secret', secretId])],
  );
}

/** @throws NotFoundError if the endpoint was deleted */
async function acceptSecret(db: Queryable, { endpointId, secretId, overlapSeconds }: Rotation): Promise<RotatedSecret> {
  const { rows } = await db.query<Omit<RotatedSecret, 'secret'>>(ACCEPT, [endpointId, overlapSeconds, secretId]);
  return { ...requireRow(rows, 'endpoint', endpointId), secret: null };
}

/** The rotation that the same form has made before; null: it has made none. */
async function findRotated(
  db: Queryable,
  { id, merchantId }: WebhookEndpoint,
  secretId: string,
): Promise<RotatedSecret | null> {
  const { rows } = await db.query<Pick<RotatedSecret, 'oldSecretExpiresAt'>>(
    `select coalesce(
         (select max(expires_at) from webhook_secrets where endpoint_id = $2 and isfinite(expires_at)), created_at
       ) as "oldSecretExpiresAt"
     from webhook_secrets where id = $1 and endpoint_id = $2`,
    [secretId, id],
  );
  return rows[0] === undefined ? null : { id, merchantId, secret: null, ...rows[0] };
}
