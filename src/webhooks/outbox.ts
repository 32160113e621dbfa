import type { Queryable } from '../db/connection/pool';
import { ALL_SUBJECT_TABLES, type SubjectTables } from '../db/transitions/subjects';
import { joinSubject } from '../db/webhooks/delivery-subject';
import { findWebhookPayments, type WebhookPayment } from '../db/webhooks/find-webhook-payments';
import { parseCorrelation, type Correlation } from '../domain/correlation';
import type { WebhookExpansion } from '../domain/expansions';
import type { Subject, SubjectKind } from '../domain/subject';
import type { OutgoingWebhook } from './send';

/**
 * After this the deliveries of a terminated relay can be claimed again. An attempt starts at most 10 s after its
 * claim and takes at most 10 s, so it ends before its lease.
 */
export const LEASE_SECONDS = 30;

export type DeliveryStatus = 'pending' | 'delivered' | 'dead';

/** A delivery with everything that an attempt needs, and with the ids for the log. */
export interface Delivery extends Omit<OutgoingWebhook, 'secrets'> {
  readonly endpointId: string;
  readonly endpointStatus: 'enabled' | 'disabled';
  readonly merchantId: string;
  readonly subject: Subject;
  readonly referenceId: string;
  readonly status: DeliveryStatus;
  /** Attempts of the cycle of 12 that are complete. The relay's attempt counts when the retry workflow has started. */
  readonly attemptsInCycle: number;
  /** The correlation of the transition that caused the event. */
  readonly correlation?: Correlation | undefined;
  /** The valid secrets of the endpoint. An attempt opens them: if none can be opened, only its own attempts fail. */
  readonly sealedSecrets: readonly SealedSecret[];
  /** What the endpoint adds to the body of an event of a payment. */
  readonly expand: readonly WebhookExpansion[];
  /** What it is taken from; undefined if the endpoint adds nothing, or the event is of no payment. */
  readonly payment?: WebhookPayment | undefined;
}

/** The delivery with the body that is sent. */
export type ExpandBody = (delivery: Delivery) => Promise<Delivery>;

interface DeliveryRow extends Omit<Delivery, 'subject' | 'correlation' | 'payment'> {
  readonly kind: SubjectKind;
  readonly subjectId: string;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

interface ClaimedRow extends DeliveryRow {
  readonly usesAllRoom: boolean;
}

export interface SealedSecret {
  readonly id: string;
  readonly sealed: string;
}

/** The valid secrets of `endpoint`, newest first. One value of JSON: the driver parses it faster than an array. */
export const VALID_SECRETS = `(
    select coalesce(
      json_agg(json_build_object('id', id, 'sealed', sealed_secret) order by secret.created_at desc, secret.id desc),
      '[]')
    from webhook_secrets secret
    where secret.endpoint_id = endpoint.id and (secret.expires_at is null or secret.expires_at > now())
  )`;

const DELIVERY_COLUMNS = `
  delivery.id as "deliveryId", delivery.endpoint_id as "endpointId", delivery.merchant_id as "merchantId",
  about.kind, about.id as "subjectId", delivery.status, delivery.attempts_in_cycle as "attemptsInCycle",
  about.reference_id as "referenceId", about.event, about.body, endpoint.url, endpoint.status as "endpointStatus",
  endpoint.expand,
  about.request_id as "requestId", about.traceparent,
  ${VALID_SECRETS} as "sealedSecrets"`;

function deliveryJoins(kinds: readonly SubjectTables[]): string {
  return `
  join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
  ${joinSubject(kinds, 'event.event, event.body, transition.request_id, transition.traceparent')}`;
}

/** In the outbox: no retry workflow has it. The predicate of the partial index. */
export const IS_IN_OUTBOX = "status = 'pending' and retry_workflow_started_at is null";

/** The condition of a delivery in the outbox that no relay has claimed. */
export const CLAIMABLE = `${IS_IN_OUTBOX} and leased_until <= now()`;

/**
 * A probe is chosen among this many of the oldest deliveries. The statement compares rows, not columns: else
 * PostgreSQL expects a few hundred rows and sorts all pending rows of the endpoint.
 */
const PROBE_CANDIDATES = 100;

/**
 * Claimable, for a delivery with a known id. The predicate differs from that of the outbox index on purpose.
 * PostgreSQL plans the statement when the outbox is small, and would otherwise scan the whole index for each id.
 */
const STILL_CLAIMABLE = 'finished_at is null and retry_workflow_started_at is null and leased_until <= now()';

export interface ClaimLimits {
  readonly max: number;
  /** Deliveries in flight, of all relays together. */
  readonly maxPerEndpoint: number;
}

export interface ClaimedDelivery extends Delivery {
  /** Whether the claim took as many deliveries of the endpoint as its limit allows, so that more may be due. */
  readonly usesAllRoom: boolean;
}

/** Leases deliveries, as `claimed`. $1: deliveries; $2: of each endpoint. */
const LEASE = `
  with recursive pending (endpoint_id) as (
    (select endpoint_id from webhook_deliveries where ${IS_IN_OUTBOX} order by endpoint_id limit 1)
    union all
    select next.endpoint_id from pending cross join lateral (
      select endpoint_id from webhook_deliveries
      where ${IS_IN_OUTBOX} and webhook_deliveries.endpoint_id > pending.endpoint_id
      order by endpoint_id limit 1
    ) next
  ),
  oldest as materialized (
    select endpoint.id as endpoint_id, endpoint.claim_number, endpoint.next_probe_at, endpoint.last_leased_at,
      endpoint.last_leased_id, head.*, leased_until > now() as is_leased,
      row_number() over (partition by endpoint.id order by head.queued_at, head.id) as ordinal
    from pending join webhook_endpoints endpoint on endpoint.id = pending.endpoint_id
    cross join lateral (
      select id, merchant_id, queued_at, leased_until from webhook_deliveries
      where endpoint_id = endpoint.id and ${IS_IN_OUTBOX} order by queued_at, id limit 2 * $2::integer
    ) head
  ),
  known as materialized (
    select endpoint_id, claim_number, id, queued_at, is_leased from oldest
    union all
    select oldest.endpoint_id, oldest.claim_number, behind.id, behind.queued_at, true
    from oldest cross join lateral (
      select id, queued_at from webhook_deliveries
      where ${IS_IN_OUTBOX} and leased_until > now()
        and (endpoint_id, queued_at, id) > (oldest.endpoint_id, oldest.queued_at, oldest.id)
        and (endpoint_id, queued_at, id) <= (oldest.endpoint_id, oldest.last_leased_at, oldest.last_leased_id)
      order by endpoint_id, queued_at, id limit $2
    ) behind
    where oldest.ordinal = 2 * $2::integer and oldest.next_probe_at is null
      and (oldest.last_leased_at, oldest.last_leased_id) > (oldest.queued_at, oldest.id)
  ),
  seen as (
    select endpoint_id as id, claim_number, $2::integer - count(*) filter (where is_leased) as room
    from known group by endpoint_id, claim_number
  ),
  endpoint as (
    select current.id, current.next_probe_at, seen.room
    from seen join webhook_endpoints current on current.id = seen.id and current.claim_number = seen.claim_number
    where seen.room > 0 or current.next_probe_at is not null
    for no key update of current skip locked
  ),
  candidate as (
    select id, merchant_id, queued_at, count(*) over (partition by endpoint_id) >= room as uses_all_room
    from (
      select oldest.*, endpoint.room,
        row_number() over (partition by oldest.endpoint_id order by oldest.queued_at, oldest.id) as position
      from endpoint join oldest on oldest.endpoint_id = endpoint.id
      where endpoint.next_probe_at is null and not is_leased
    ) claimable
    where position <= room
    union all
    select probe.id, probe.merchant_id, probe.queued_at, false
    from endpoint cross join lateral (
      select *, bool_or(leased_until > now()) over () as is_probed
      from (
        select id, merchant_id, queued_at, attempts_total, leased_until from webhook_deliveries
        where ${IS_IN_OUTBOX} and (endpoint_id, queued_at) >= (endpoint.id, '-infinity')
          and (endpoint_id, queued_at) <= (endpoint.id, 'infinity')
        order by endpoint_id, queued_at, id limit ${PROBE_CANDIDATES}
      ) oldest
      order by attempts_total, queued_at, id limit 1
    ) probe
    where endpoint.next_probe_at <= now() and not probe.is_probed
  ),
  chosen as (
    select id, uses_all_room from candidate
    order by row_number() over (partition by merchant_id order by queued_at, id), queued_at, id limit $1
  ),
  locked as (
    select delivery.id, chosen.uses_all_room from chosen cross join lateral (
      select id from webhook_deliveries where id = chosen.id and ${STILL_CLAIMABLE} for update skip locked
    ) delivery
  ),
  claimed as (
    update webhook_deliveries set leased_until = now() + interval '${LEASE_SECONDS} seconds'
    where id = any (array (select id from locked))
    returning *
  ),
  counted as (
    update webhook_endpoints
    set claim_number = claim_number + 1, last_leased_at = last.queued_at, last_leased_id = last.id
    from (
      select distinct on (endpoint_id) * from (
        select endpoint_id, id, queued_at from claimed
        union all
        select endpoint_id, id, queued_at from known where is_leased
      ) lease
      where endpoint_id in (select endpoint_id from claimed)
      order by endpoint_id, queued_at desc, id desc
    ) last
    where webhook_endpoints.id = last.endpoint_id
  )`;

/** The statement of a claim, for deliveries of these kinds. */
export function claimStatement(kinds: readonly SubjectTables[]): string {
  return `${LEASE}
  select ${DELIVERY_COLUMNS}, locked.uses_all_room as "usesAllRoom"
  from claimed delivery join locked on locked.id = delivery.id ${deliveryJoins(kinds)}
  order by delivery.queued_at`;
}

const CLAIM = claimStatement(ALL_SUBJECT_TABLES);

/**
 * Claims deliveries for an attempt, under a lease that no other relay can take. It takes the oldest of each endpoint,
 * up to the limit of the endpoint, by fair scheduling between merchants. What any relay has leased counts: a claim
 * leaves an endpoint out if another claim holds it, or has changed its `claim_number` since the snapshot of the
 * statement. The oldest have one order, also those of one instant. A lease is behind what is not leased only if a
 * transaction committed late: then the claim also reads from the oldest to the last lease that is known. For a
 * failing endpoint it takes one probe when that is due: the delivery with the fewest attempts, since a receiver may
 * fail only for one event.
 *
 * The statement finds the endpoints by a skip scan of the outbox index: its cost depends on the number of endpoints,
 * not of deliveries. Endpoints whose pending deliveries all have retry workflows are not in this index.
 */
export async function claimDeliveries(db: Queryable, limits: ClaimLimits): Promise<ClaimedDelivery[]> {
  const { rows } = await db.query<ClaimedRow>({
    name: 'claim_deliveries',
    text: CLAIM,
    values: [limits.max, limits.maxPerEndpoint],
  });
  return withPayments(db, rows.map(toDelivery));
}

const FIND = `
  select ${DELIVERY_COLUMNS} from webhook_deliveries delivery ${deliveryJoins(ALL_SUBJECT_TABLES)}
  where delivery.id = $1`;

export async function findDelivery(db: Queryable, deliveryId: string): Promise<Delivery> {
  const { rows } = await db.query<DeliveryRow>({
    name: 'find_delivery',
    text: FIND,
    values: [deliveryId],
  });
  if (!rows[0]) throw new Error(`There is no webhook delivery ${deliveryId}`);
  const delivery = toDelivery(rows[0]);
  return (await withPayments(db, [delivery]))[0] ?? delivery;
}

/** Adds payments to the deliveries. If no endpoint wants any, nothing is read. */
async function withPayments<Row extends Delivery>(db: Queryable, deliveries: readonly Row[]): Promise<Row[]> {
  const expanded = deliveries.filter(({ expand }) => expand.length > 0).map(({ deliveryId }) => deliveryId);
  if (expanded.length === 0) return [...deliveries];
  const payments = await findWebhookPayments(db, expanded);
  return deliveries.map((delivery) => ({ ...delivery, payment: payments.get(delivery.deliveryId) }));
}

function toDelivery<Row extends DeliveryRow>({ kind, subjectId, requestId, traceparent, ...delivery }: Row) {
  return {
    ...delivery,
    subject: { kind, id: subjectId },
    correlation: parseCorrelation({ requestId, traceparent }),
  };
}

/**
 * The endpoints of deliveries that return to the outbox, as the first part of the statement. A claim counts leases
 * among the oldest deliveries of an endpoint, so what returns has to be queued behind every lease. No claim leases
 * meanwhile: it leaves out a locked endpoint.
 */
export function lockedEndpoints(condition: string): string {
  return `locked_endpoint as (select id from webhook_endpoints where ${condition} order by id for no key update)`;
}

/** The retry workflow is lost: the relay makes the next attempt of the cycle. */
export async function reclaimDelivery(db: Queryable, deliveryId: string): Promise<void> {
  await db.query({
    name: 'reclaim_delivery',
    text: `
      with ${lockedEndpoints('id = (select endpoint_id from webhook_deliveries where id = $1)')}
      update webhook_deliveries delivery set retry_workflow_started_at = null, leased_until = '-infinity',
        queued_at = clock_timestamp()
      from locked_endpoint endpoint
      where delivery.id = $1 and delivery.endpoint_id = endpoint.id and delivery.status = 'pending'`,
    values: [deliveryId],
  });
}

/** The deliveries among these that exist in PostgreSQL. */
export async function findKnownDeliveries(db: Queryable, deliveryIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find_known_deliveries',
    text: 'select id from webhook_deliveries where id = any ($1::uuid[])',
    values: [deliveryIds],
  });
  return new Set(rows.map(({ id }) => id));
}
