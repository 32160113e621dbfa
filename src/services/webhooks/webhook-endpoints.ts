import { v7 as uuidv7 } from 'uuid';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { requireMerchant } from '../../db/merchants/require-merchant';
import type { Person, Scope } from '../../domain/actor';
import type { WebhookEvent } from '../../domain/events';
import { WEBHOOK_EXPANSIONS, type WebhookExpansion } from '../../domain/expansions';
import type { DisabledReason } from '../../webhooks/record-attempt';
import { newWebhookSecret } from '../../webhooks/sign';

export interface WebhookEndpoint {
  readonly id: string;
  readonly merchantId: string;
  readonly url: string;
  /** Null: every event of payments. */
  readonly events: readonly WebhookEvent[] | null;
  /** What it adds to the bodies of payments and late payments. */
  readonly expand: readonly WebhookExpansion[];
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

export interface NewEndpoint extends Pick<WebhookEndpoint, 'merchantId' | 'url'> {
  /** Absent: a new one. */
  readonly id?: string;
  /** Empty: every event of payments. */
  readonly events: readonly WebhookEvent[];
  readonly expand?: readonly WebhookExpansion[] | undefined;
}

/** An endpoint that was not deleted: $1 is its id. */
const IS_NAMED = 'endpoint.id = $1 and endpoint.deleted_at is null';

/** @param countOf counts the pending deliveries that satisfy a condition */
const columnsWith = (countOf: (condition: string) => string) => `endpoint.id, endpoint.merchant_id as "merchantId",
  endpoint.url, endpoint.events, endpoint.expand, endpoint.status, endpoint.disabled_reason as "disabledReason",
  endpoint.consecutive_failures as "consecutiveFailures", endpoint.failing_since as "failingSince",
  endpoint.next_probe_at as "nextProbeAt",
  case endpoint.status when 'disabled' then 0 else
    ${countOf('retry_workflow_started_at is null')} + ${countOf('retry_workflow_started_at is not null')}
  end as pending,
  endpoint.created_at as "createdAt"`;

const ENDPOINT_COLUMNS = columnsWith(
  (condition) => `(select count(*) from webhook_deliveries
      where endpoint_id = endpoint.id and status = 'pending' and ${condition})`,
);

/** A count that costs few buffers: a page shows more as "100+". */
const MAX_COUNTED_DELIVERIES = 100;

const OWN_ENDPOINT_COLUMNS = columnsWith(
  (condition) => `(select count(*) from (
      select from webhook_deliveries where endpoint_id = endpoint.id and status = 'pending' and ${condition}
      limit ${MAX_COUNTED_DELIVERIES}
    ) counted)`,
);

/** An endpoint that an operation has registered. */
export interface IssuedEndpoint extends WebhookEndpoint {
  /** No list has it. Null: the same form has registered the endpoint before. */
  readonly secret: string | null;
  /** An enabled endpoint of the merchant with the same URL, to which each event is sent too; null: there is none. */
  readonly duplicateOf: string | null;
}

/**
 * Registers an endpoint at a URL that violates no rule. The secret that signs its webhooks is stored sealed; only this
 * result contains it.
 * @returns null if there is an endpoint with this id already
 * @throws NotFoundError if there is no such merchant
 */
export async function insertEndpoint(
  db: Queryable,
  sealer: Sealer,
  { id = uuidv7(), merchantId, url, events, expand = [] }: NewEndpoint,
): Promise<(IssuedEndpoint & { readonly secret: string }) | null> {
  const secret = newWebhookSecret();
  const secretId = uuidv7();
  await requireMerchant(db, merchantId);
  const { rows } = await db.query<Omit<IssuedEndpoint, 'secret'>>(
    `with endpoint as (
       insert into webhook_endpoints (id, merchant_id, url, events, expand) values ($1, $2, $3, $4, $7)
       on conflict (id) do nothing
       returning id, merchant_id, url, events, expand, status, disabled_reason, consecutive_failures, failing_since,
         next_probe_at, created_at
     ),
     secret as (
       insert into webhook_secrets (id, endpoint_id, sealed_secret) select $5, id, $6 from endpoint
     )
     select ${ENDPOINT_COLUMNS},
       (select id from webhook_endpoints other
        where merchant_id = $2 and url = $3 and status = 'enabled' and deleted_at is null
        order by created_at desc, id limit 1) as "duplicateOf"
     from endpoint`,
    [
      id,
      merchantId,
      url,
      storedEvents(events),
      secretId,
      sealer.seal(secret, ['webhook-secret', secretId]),
      storedExpansions(expand),
    ],
  );
  return rows[0] === undefined ? null : { ...rows[0], secret };
}

/** Null stands for every event of payments. */
export function storedEvents(events: readonly WebhookEvent[]): WebhookEvent[] | null {
  return events.length === 0 ? null : [...new Set(events)];
}

/** Each one once, in the order of the bodies. */
export function storedExpansions(expand: readonly WebhookExpansion[]): WebhookExpansion[] {
  return WEBHOOK_EXPANSIONS.filter((name) => expand.includes(name));
}

/** In the order of their creation, without those that were deleted. */
export async function listEndpoints(db: Queryable): Promise<WebhookEndpoint[]> {
  const { rows } = await db.query<WebhookEndpoint>(
    `select ${ENDPOINT_COLUMNS} from webhook_endpoints endpoint where endpoint.deleted_at is null
     order by endpoint.created_at, endpoint.id`,
  );
  return rows;
}

/** More than any merchant has: a page shows no more. */
const MAX_LISTED = 50;

/**
 * The endpoints of a merchant, in the order of their creation; at most 50. `pending` is counted up to
 * `MAX_COUNTED_DELIVERIES` in the outbox, and the same of retries.
 */
export async function listOwnEndpoints(db: Queryable, merchantId: string): Promise<WebhookEndpoint[]> {
  const { rows } = await db.query<WebhookEndpoint>({
    name: 'list_own_endpoints',
    text: `select ${OWN_ENDPOINT_COLUMNS} from webhook_endpoints endpoint
      where endpoint.merchant_id = $1 and endpoint.deleted_at is null
      order by endpoint.created_at, endpoint.id limit ${MAX_LISTED}`,
    values: [merchantId],
  });
  return rows;
}

/**
 * The endpoint, with the exact number of waiting deliveries for an operator, and a bounded one for a member.
 * @throws NotFoundError if there is no such endpoint in the scope, or it was deleted
 */
export async function findEndpoint(db: Queryable, scope: Scope, endpointId: string): Promise<WebhookEndpoint> {
  const [columns, merchantId] = scope === 'all' ? [ENDPOINT_COLUMNS, null] : [OWN_ENDPOINT_COLUMNS, scope.merchantId];
  const { rows } = await db.query<WebhookEndpoint>(
    `select ${columns} from webhook_endpoints endpoint
     where ${IS_NAMED} and ($2::uuid is null or endpoint.merchant_id = $2)`,
    [endpointId, merchantId],
  );
  return requireRow(rows, 'endpoint', endpointId);
}

/** The endpoint that the same form has registered before, also if it was deleted since; null: there is none. */
export async function findIssuedEndpoint(
  db: Queryable,
  merchantId: string,
  endpointId: string,
): Promise<IssuedEndpoint | null> {
  const { rows } = await db.query<WebhookEndpoint>(
    `select ${OWN_ENDPOINT_COLUMNS} from webhook_endpoints endpoint where id = $1 and merchant_id = $2`,
    [endpointId, merchantId],
  );
  return rows[0] === undefined ? null : { ...rows[0], secret: null, duplicateOf: null };
}

/** Why the person's act disables an endpoint. */
export function disabledReasonOf(by: Person): DisabledReason {
  return by.kind === 'merchant_user' ? 'merchant' : 'operator';
}
