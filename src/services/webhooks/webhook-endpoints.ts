import { v7 as uuidv7 } from 'uuid';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { DeclaredAction } from '../../domain/declared-action';
import type { WebhookEvent } from '../../domain/events';
import { EXPANSIONS, type Expansion } from '../../domain/expansions';
import { codeOf, ConflictError, InvalidError } from '../../errors';
import { markDead } from '../../webhooks/mark-dead';
import { RESET_HEALTH, type DisabledReason } from '../../webhooks/record-attempt';
import { resolverFor, type ResolveHost } from '../../webhooks/resolve-host';
import { newWebhookSecret } from '../../webhooks/sign';
import { receiverViolation, type ReceiverRules, type UrlRule } from '../../webhooks/ssrf-guard';

export interface WebhookEndpoint {
  readonly id: string;
  readonly merchantId: string;
  readonly url: string;
  /** Null: every event of payments. */
  readonly events: readonly WebhookEvent[] | null;
  /** What it adds to the bodies of payments and late payments. */
  readonly expand: readonly Expansion[];
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
  /** Empty: every event of payments. */
  readonly events: readonly WebhookEvent[];
  readonly expand?: readonly Expansion[] | undefined;
}

const UNIQUE_VIOLATION = '23505';

/** The URL of a receiver violates a rule. */
export class ReceiverUrlError extends InvalidError {
  constructor(
    readonly rule: UrlRule,
    message: string,
  ) {
    super('url', message);
  }
}

/** Returns the URL if it violates no rule. */
async function requireAllowed(url: string, rules: ReceiverRules, resolve: ResolveHost): Promise<string> {
  const violation = await receiverViolation(url, rules, resolve);
  if (violation) throw new ReceiverUrlError(violation.rule, `The URL ${violation.text}: ${url}`);
  return url;
}

/** Executes a statement that inserts a row whose id a form has chosen. */
export async function insertOnce<Result>(
  reason: 'endpoint_exists' | 'secret_exists',
  insert: () => Promise<Result>,
): Promise<Result> {
  try {
    return await insert();
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    throw new ConflictError(reason, 'This was done before. The secret is shown only once.');
  }
}

/** An endpoint that was not deleted: $1 is its id, $2 its merchant, null for an operator. */
export const IS_NAMED =
  'endpoint.id = $1 and ($2::uuid is null or endpoint.merchant_id = $2) and endpoint.deleted_at is null';

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

/** A new endpoint with what only the result of the creation has. */
interface CreatedEndpoint extends WebhookEndpoint {
  readonly secret: string;
  /** An enabled endpoint of the merchant with the same URL, to which each event is sent too; null: there is none. */
  readonly duplicateOf: string | null;
}

export const CREATE_ENDPOINT = new DeclaredAction('webhook.create');

/**
 * Registers an endpoint. The secret that signs its webhooks is stored sealed; only this result contains it.
 * @throws NotFoundError if there is no such merchant
 * @throws ReceiverUrlError if the URL violates a rule, or in production if its host resolves to a forbidden network
 * @throws ConflictError `endpoint_exists` if the given id is that of an endpoint
 */
export async function createEndpoint(
  db: Queryable,
  sealer: Sealer,
  endpoint: NewEndpoint,
  resolve: ResolveHost = resolverFor(endpoint.environment),
): Promise<CreatedEndpoint> {
  const secret = newWebhookSecret();
  const secretId = uuidv7();
  const url = await requireAllowed(endpoint.url, endpoint, resolve);
  const { rows } = await insertOnce('endpoint_exists', () =>
    db.query<Omit<CreatedEndpoint, 'secret'>>(
      `with endpoint as (
         insert into webhook_endpoints (id, merchant_id, url, events, expand)
         select $1, id, $3, $4, $7 from merchants where id = $2
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
        endpoint.id ?? uuidv7(),
        endpoint.merchantId,
        url,
        storedEvents(endpoint.events),
        secretId,
        sealer.seal(secret, ['webhook-secret', secretId]),
        storedExpansions(endpoint.expand ?? []),
      ],
    ),
  );
  return { ...requireRow(rows, 'merchant', endpoint.merchantId), secret };
}

/** Null stands for every event of payments. */
function storedEvents(events: readonly WebhookEvent[]): WebhookEvent[] | null {
  return events.length === 0 ? null : [...new Set(events)];
}

/** Each one once, in the order of the bodies. */
function storedExpansions(expand: readonly Expansion[]): Expansion[] {
  return EXPANSIONS.filter((name) => expand.includes(name));
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
 * @param merchantId absent: an operator asks for the endpoint of any merchant
 * @throws NotFoundError if there is no such endpoint, or it was deleted
 */
export async function findEndpoint(db: Queryable, endpointId: string, merchantId?: string): Promise<WebhookEndpoint> {
  const columns = merchantId === undefined ? ENDPOINT_COLUMNS : OWN_ENDPOINT_COLUMNS;
  const { rows } = await db.query<WebhookEndpoint>(
    `select ${columns} from webhook_endpoints endpoint where ${IS_NAMED}`,
    [endpointId, merchantId],
  );
  return requireRow(rows, 'endpoint', endpointId);
}

export interface EndpointChanges extends ReceiverRules {
  readonly url?: string | undefined;
  /** Empty: every event of payments. */
  readonly events?: readonly WebhookEvent[] | undefined;
  /** Empty: nothing. */
  readonly expand?: readonly Expansion[] | undefined;
}

export const SET_ENDPOINT = new DeclaredAction('webhook.set');

/**
 * Changes the URL, the events and the added members of an endpoint. Its next attempts go to the new URL, whose health
 * is not known yet, and have these members. Its events change for what happens from now on.
 * @param merchantId as for `findEndpoint`
 * @throws NotFoundError if there is no such endpoint
 * @throws ReceiverUrlError as `createEndpoint`
 */
export async function setEndpoint(
  db: Queryable,
  endpointId: string,
  { url, events, expand, ...rules }: EndpointChanges,
  merchantId?: string,
  resolve: ResolveHost = resolverFor(rules.environment),
): Promise<WebhookEndpoint> {
  if (url !== undefined) await requireAllowed(url, rules, resolve);
  const resetIfMoved = HEALTH_COLUMNS.map(
    ([column, healthy]) => `${column} = case when $3::text is distinct from url and $3 is not null
       then ${healthy} else ${column} end`,
  );
  await db.query(
    `update webhook_endpoints endpoint set url = coalesce($3, url), events = case when $4 then $5 else events end,
       expand = coalesce($6, expand),
       ${resetIfMoved.join(', ')}
     where ${IS_NAMED}`,
    [
      endpointId,
      merchantId,
      url,
      events !== undefined,
      events && storedEvents(events),
      expand && storedExpansions(expand),
    ],
  );
  return findEndpoint(db, endpointId, merchantId);
}

const HEALTH_COLUMNS = [
  ['consecutive_failures', '0'],
  ['failing_since', 'null'],
  ['next_probe_at', 'null'],
] as const;

export const DELETE_ENDPOINT = new DeclaredAction('webhook.delete');

/**
 * Deletes an endpoint for good: no list has it, and nothing is sent to it again. Its pending deliveries become dead, as
 * those of a disabled endpoint, and cannot be redelivered. Events and deliveries stay as history; its secrets end.
 * @param merchantId as for `findEndpoint`
 * @throws NotFoundError if there is no such endpoint
 */
export async function deleteEndpoint(
  db: Queryable,
  endpointId: string,
  merchantId?: string,
): Promise<Pick<WebhookEndpoint, 'id' | 'merchantId'>> {
  const { rows } = await db.query<Pick<WebhookEndpoint, 'id' | 'merchantId'>>(
    `with endpoint as (
       update webhook_endpoints endpoint set status = 'disabled', deleted_at = now(),
         disabled_reason = coalesce(disabled_reason, '${disablerOf(merchantId)}')
       where ${IS_NAMED}
       returning endpoint.id, endpoint.merchant_id
     ),
     ended as (
       update webhook_secrets set expires_at = least(expires_at, now()) from endpoint where endpoint_id = endpoint.id
     )
     select id, merchant_id as "merchantId" from endpoint`,
    [endpointId, merchantId],
  );
  const deleted = requireRow(rows, 'endpoint', endpointId);
  await markDead(db, endpointId);
  return deleted;
}

/** Who disables an endpoint; an operator names no merchant. */
function disablerOf(merchantId: string | undefined): DisabledReason {
  return merchantId === undefined ? 'operator' : 'merchant';
}

export const DISABLE_ENDPOINT = new DeclaredAction('webhook.disable');

/**
 * Disables an endpoint. Its pending deliveries become dead; an operator can redeliver them after the endpoint is
 * enabled again. An endpoint that is disabled already keeps its reason. The deliveries are marked dead in batches; the
 * relay continues this if the process ends.
 * @param merchantId as for `findEndpoint`
 * @throws NotFoundError if there is no such endpoint
 */
export async function disableEndpoint(
  db: Queryable,
  endpointId: string,
  merchantId?: string,
): Promise<WebhookEndpoint> {
  await findEndpoint(db, endpointId, merchantId);
  await db.query(
    `update webhook_endpoints endpoint set status = 'disabled', disabled_reason = '${disablerOf(merchantId)}'
     where ${IS_NAMED} and endpoint.status = 'enabled'`,
    [endpointId, merchantId],
  );
  await markDead(db, endpointId);
  return findEndpoint(db, endpointId, merchantId);
}

export const ENABLE_ENDPOINT = new DeclaredAction('webhook.enable');

/**
 * Enables an endpoint and resets its health.
 * @param merchantId as for `findEndpoint`
 * @throws NotFoundError if there is no such endpoint
 */
export async function enableEndpoint(db: Queryable, endpointId: string, merchantId?: string): Promise<WebhookEndpoint> {
  await db.query(
    `update webhook_endpoints endpoint set status = 'enabled', disabled_reason = null, ${RESET_HEALTH}
     where ${IS_NAMED}`,
    [endpointId, merchantId],
  );
  return findEndpoint(db, endpointId, merchantId);
}
