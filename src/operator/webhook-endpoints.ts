import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../config';
import type { Queryable } from '../db/pool';
import type { PaymentEvent } from '../domain/events';
import type { Sealer } from '../sealing';
import { noSuchMerchant } from './merchants';
import { requireOutgoingUrl } from './outgoing-url';
import { requireRow } from './require-row';

export interface WebhookEndpoint {
  readonly id: string;
  readonly merchantId: string;
  readonly url: string;
  /** Null: every event. */
  readonly events: readonly PaymentEvent[] | null;
  readonly status: 'enabled' | 'disabled';
  readonly disabledReason: string | null;
  readonly createdAt: Date;
}

export interface NewEndpoint {
  readonly merchantId: string;
  readonly url: string;
  /** Empty: every event. */
  readonly events: readonly PaymentEvent[];
  readonly environment: Config['LUNAS_ENVIRONMENT'];
}

const SECRET_BYTES = 32;

const ENDPOINT_COLUMNS = `id, merchant_id as "merchantId", url, events, status, disabled_reason as "disabledReason",
  created_at as "createdAt"`;

/**
 * Registers a receiver. The secret that signs its webhooks is stored sealed, and told here only.
 * @throws UserError when there is no such merchant, or the URL breaks a rule
 */
export async function createEndpoint(
  db: Queryable,
  sealer: Sealer,
  endpoint: NewEndpoint,
): Promise<WebhookEndpoint & { readonly secret: string }> {
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
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
      uuidv7(),
      endpoint.merchantId,
      requireOutgoingUrl(endpoint.url, endpoint.environment),
      endpoint.events.length === 0 ? null : [...new Set(endpoint.events)],
      uuidv7(),
      sealer.seal(secret, 'webhook-secret'),
    ],
  );
  return { ...requireRow(rows, noSuchMerchant(endpoint.merchantId)), secret };
}

/** In the order of their creation. */
export async function listEndpoints(db: Queryable): Promise<WebhookEndpoint[]> {
  const { rows } = await db.query<WebhookEndpoint>(
    `select ${ENDPOINT_COLUMNS} from webhook_endpoints order by created_at, id`,
  );
  return rows;
}

/** The newest secret of the merchant's newest endpoint that is enabled; null where there is none. */
export async function findNewestSecret(db: Queryable, sealer: Sealer, merchantId: string): Promise<string | null> {
  const { rows } = await db.query<{ sealed: string }>(
    `select secret.sealed_secret as sealed
     from webhook_endpoints endpoint join webhook_secrets secret on secret.endpoint_id = endpoint.id
     where endpoint.merchant_id = $1 and endpoint.status = 'enabled' and secret.expires_at is null
     order by endpoint.created_at desc, endpoint.id desc, secret.created_at desc limit 1`,
    [merchantId],
  );
  return rows[0] ? sealer.open(rows[0].sealed, 'webhook-secret') : null;
}
