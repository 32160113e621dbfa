import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { DeclaredAction } from '../../domain/declared-action';
import type { PaymentEvent } from '../../domain/events';
import { markDead } from '../../webhooks/mark-dead';
import { openSecret, type SealedSecret } from '../../webhooks/outbox';
import { RESET_HEALTH, type DisabledReason } from '../../webhooks/record-attempt';
import { resolverFor, type ResolveHost } from '../../webhooks/resolve-host';
import { receiverViolation, type ReceiverRules } from '../../webhooks/ssrf-guard';
import { assertUrl } from '../provider-accounts/validate-url';

export interface WebhookEndpoint {
  readonly id: string;
  readonly merchantId: string;
  readonly url: string;
  /** Null: every event. */
  readonly events: readonly PaymentEvent[] | null;
  readonly status: 'enabled' | 'disabled';
  readonly disabledReason: DisabledReason | null;
  /** Failed attempts since the last success, and the timestamp of the first of them. */
  readonly consecutiveFailures: number;
  readonly failingSince: Date | null;
  /** Not null: the circuit breaker is open, and the next probe is sent then. The other deliveries follow a success. */
  readonly nextProbeAt: Date | null;
  /** Deliveries that are neither delivered nor dead. 0 if the endpoint is disabled: those are dead, or become so. */
  readonly pending: number;
  readonly createdAt: Date;
}

export interface NewEndpoint extends ReceiverRules, Pick<WebhookEndpoint, 'merchantId' | 'url'> {
  /** Absent: a new one. */
  readonly id?: string;
  /** Empty: every event. */
  readonly events: readonly PaymentEvent[];
}

const SECRET_BYTES = 32;

const ENDPOINT_COLUMNS = `endpoint.id, endpoint.merchant_id as "merchantId", endpoint.url, endpoint.events,
  endpoint.status, endpoint.disabled_reason as "disabledReason", endpoint.consecutive_failures as "consecutiveFailures",
  endpoint.failing_since as "failingSince", endpoint.next_probe_at as "nextProbeAt",
  case endpoint.status when 'disabled' then 0 else
    (select count(*) from webhook_deliveries
      where endpoint_id = endpoint.id and status = 'pending' and retry_workflow_started_at is null)
    + (select count(*) from webhook_deliveries
      where endpoint_id = endpoint.id and status = 'pending' and retry_workflow_started_at is not null)
  end as pending,
  endpoint.created_at as "createdAt"`;

export const CREATE_ENDPOINT = new DeclaredAction('webhook.create');

/**
 * Registers an endpoint. The secret that signs its webhooks is stored sealed; only this result contains it.
 * @throws NotFoundError if there is no such merchant
 * @throws UserError if the URL violates a rule, or in production if its host resolves to a forbidden network
 */
export async function createEndpoint(
  db: Queryable,
  sealer: Sealer,
  endpoint: NewEndpoint,
  resolve: ResolveHost = resolverFor(endpoint.environment),
): Promise<WebhookEndpoint & { readonly secret: string }> {
  const secret = newWebhookSecret();
  const secretId = uuidv7();
  const url = assertUrl(endpoint.url, await receiverViolation(endpoint.url, endpoint, resolve));
  const { rows } = await db.query<WebhookEndpoint>(
    `with endpoint as (
       insert into webhook_endpoints (id, merchant_id, url, events)
       select $1, id, $3, $4 from merchants where id = $2
       returning *
     ),
     secret as (
       insert into webhook_secrets (id, endpoint_id, sealed_secret) select $5, id, $6 from endpoint
     )
     select ${ENDPOINT_COLUMNS} from endpoint`,
    [
      endpoint.id ?? uuidv7(),
      endpoint.merchantId,
      url,
      endpoint.events.length === 0 ? null : [...new Set(endpoint.events)],
      secretId,
      sealer.seal(secret, ['webhook-secret', secretId]),
    ],
  );
  return { ...requireRow(rows, 'merchant', endpoint.merchantId), secret };
}

/** In the order of their creation. */
export async function listEndpoints(db: Queryable): Promise<WebhookEndpoint[]> {
  const { rows } = await db.query<WebhookEndpoint>(
    `select ${ENDPOINT_COLUMNS} from webhook_endpoints endpoint order by endpoint.created_at, endpoint.id`,
  );
  return rows;
}

/** @throws NotFoundError if there is no such endpoint */
export async function findEndpoint(db: Queryable, endpointId: string): Promise<WebhookEndpoint> {
  const { rows } = await db.query<WebhookEndpoint>(
    `select ${ENDPOINT_COLUMNS} from webhook_endpoints endpoint where endpoint.id = $1`,
    [endpointId],
  );
  return requireRow(rows, 'endpoint', endpointId);
}

export const DISABLE_ENDPOINT = new DeclaredAction('webhook.disable');

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

export const ENABLE_ENDPOINT = new DeclaredAction('webhook.enable');

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

export interface RotatedSecret extends Pick<WebhookEndpoint, 'id' | 'merchantId'> {
  /** The new secret; only this result contains it. */
  readonly secret: string;
  /** Until then webhooks are signed with the old and the new secret. */
  readonly oldSecretExpiresAt: Date;
}

export const ROTATE_SECRET = new DeclaredAction('webhook.rotate_secret');

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
  const secret = newWebhookSecret();
  const secretId = uuidv7();
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
    [endpointId, overlapSeconds, secretId, sealer.seal(secret, ['webhook-secret', secretId])],
  );
  return { ...requireRow(rows, 'endpoint', endpointId), secret };
}

/**
 * The secret that signs the webhooks of an endpoint, or of `lunas listen`: 256 random bits, in the form of Standard
 * Webhooks.
 */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
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
