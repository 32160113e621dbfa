import type { Queryable } from '../db/pool';
import type { Sealer } from '../sealing';
import type { OutgoingWebhook } from './send';

/**
 * A relay that dies gives its deliveries back after this long. A try begins within 10 s of its claim and takes 10 s, so
 * that none outlives its lease.
 */
export const LEASE_SECONDS = 30;

export type DeliveryStatus = 'pending' | 'delivered' | 'dead';

/** A delivery as its sender needs it, with what an operator finds it by. */
export interface Delivery extends OutgoingWebhook {
  readonly endpointId: string;
  readonly endpointStatus: 'enabled' | 'disabled';
  readonly merchantId: string;
  readonly paymentId: string;
  readonly referenceId: string;
  readonly status: DeliveryStatus;
  /** Those of the twelve that are over. The relay's count only once it has handed the delivery over. */
  readonly attemptsInCycle: number;
}

interface DeliveryRow extends Omit<Delivery, 'secrets'> {
  readonly sealedSecrets: readonly string[];
}

/** The secrets of `endpoint` that sign now, newest first. */
export const VALID_SECRETS = `
  array (
    select sealed_secret from webhook_secrets secret
    where secret.endpoint_id = endpoint.id and (secret.expires_at is null or secret.expires_at > now())
    order by secret.created_at desc, secret.id desc
  )`;

const DELIVERY_COLUMNS = `
  delivery.id as "deliveryId", delivery.endpoint_id as "endpointId", delivery.merchant_id as "merchantId",
  delivery.payment_id as "paymentId", delivery.status, delivery.attempts_in_cycle as "attemptsInCycle", payment.reference_id as "referenceId", event.event,
  event.body, endpoint.url, endpoint.status as "endpointStatus", ${VALID_SECRETS} as "sealedSecrets"`;

const DELIVERY_JOINS = `
  join webhook_events event
    on event.payment_id = delivery.payment_id and event.payment_version = delivery.payment_version
  join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
  join payments payment on payment.id = delivery.payment_id`;

/** In the outbox: the relay's, not a retry workflow's. The predicate of its index. */
const IS_IN_OUTBOX = "status = 'pending' and retry_workflow_started_at is null";

const UNLEASED = 'retry_workflow_started_at is null and leased_until <= now()';

/** In the outbox, and in nobody's hands. */
const CLAIMABLE = `${IS_IN_OUTBOX} and leased_until <= now()`;

/**
 * A probe is chosen among so many that have waited longest, however many wait for a failing endpoint. Rows are compared to find
 * them, not columns: PostgreSQL would sort all that waits for an endpoint of which it expects a few hundred.
 */
const PROBE_CANDIDATES = 100;

/**
 * The same of a delivery whose id is known. "Pending" is said in other words, which the index of what is pending does not serve:
 * PostgreSQL, which plans when little is pending, would look through all of it for each id.
 */
const STILL_CLAIMABLE = `finished_at is null and ${UNLEASED}`;

export interface ClaimLimits {
  readonly max: number;
  readonly maxPerEndpoint: number;
  /** How many each endpoint has under way already. */
  readonly inFlight: ReadonlyMap<string, number>;
}

/**
 * Takes waiting deliveries for a try, under a lease that no other relay can take before it ends: of each endpoint its
 * oldest, as many as there is room for, the merchants in turn. Of a failing endpoint a single one, once its time has come:
 * one that was tried least, since a receiver may fail at one event only.
 * The endpoints that have something in the outbox are found by skipping through its index, however much waits for each. Endpoints
 * for which only retry workflows have something pending are not in this index.
 */
export async function claimDeliveries(db: Queryable, sealer: Sealer, bounds: ClaimLimits): Promise<Delivery[]> {
  const { rows } = await db.query<DeliveryRow>({
    name: 'claim_deliveries',
    text: `
      with recursive pending (endpoint_id) as (
        (select endpoint_id from webhook_deliveries where ${IS_IN_OUTBOX} order by endpoint_id limit 1)
        union all
        select next.endpoint_id from pending cross join lateral (
          select endpoint_id from webhook_deliveries
          where ${IS_IN_OUTBOX} and webhook_deliveries.endpoint_id > pending.endpoint_id
          order by endpoint_id limit 1
        ) next
      ),
      endpoint as (
        select id, next_probe_at, $2 - coalesce(busy.count, 0) as room
        from pending join webhook_endpoints endpoint on endpoint.id = pending.endpoint_id
        left join unnest($3::uuid[], $4::integer[]) as busy (endpoint_id, count) on busy.endpoint_id = endpoint.id
      ),
      candidate as (
        select head.*
        from endpoint cross join lateral (
          select id, merchant_id, queued_at from webhook_deliveries
          where endpoint_id = endpoint.id and ${CLAIMABLE}
          order by queued_at limit greatest(endpoint.room, 0)
        ) head
        where endpoint.next_probe_at is null
        union all
        select probe.id, probe.merchant_id, probe.queued_at
        from endpoint cross join lateral (
          select *, bool_or(leased_until > now()) over () as is_probed
          from (
            select id, merchant_id, queued_at, attempts_total, leased_until from webhook_deliveries
            where ${IS_IN_OUTBOX} and (endpoint_id, queued_at) >= (endpoint.id, '-infinity')
              and (endpoint_id, queued_at) <= (endpoint.id, 'infinity')
            order by endpoint_id, queued_at limit ${PROBE_CANDIDATES}
          ) oldest
          order by attempts_total, queued_at limit 1
        ) probe
        where endpoint.next_probe_at <= now() and not probe.is_probed
      ),
      chosen as (
        select id from candidate order by row_number() over (partition by merchant_id order by queued_at), queued_at limit $1
      ),
      locked as (
        select delivery.id from chosen cross join lateral (
          select id from webhook_deliveries where id = chosen.id and ${STILL_CLAIMABLE} for update skip locked
        ) delivery
      ),
      claimed as (
        update webhook_deliveries set leased_until = now() + interval '${LEASE_SECONDS} seconds'
        where id = any (array (select id from locked))
        returning *
      )
      select ${DELIVERY_COLUMNS} from claimed delivery ${DELIVERY_JOINS} order by delivery.queued_at`,
    values: [bounds.max, bounds.maxPerEndpoint, [...bounds.inFlight.keys()], [...bounds.inFlight.values()]],
  });
  return rows.map((row) => openSecrets(row, sealer));
}

export async function findDelivery(db: Queryable, sealer: Sealer, deliveryId: string): Promise<Delivery> {
  const { rows } = await db.query<DeliveryRow>({
    name: 'find_delivery',
    text: `select ${DELIVERY_COLUMNS} from webhook_deliveries delivery ${DELIVERY_JOINS} where delivery.id = $1`,
    values: [deliveryId],
  });
  if (!rows[0]) throw new Error(`There is no webhook delivery ${deliveryId}`);
  return openSecrets(rows[0], sealer);
}

function openSecrets({ sealedSecrets, ...delivery }: DeliveryRow, sealer: Sealer): Delivery {
  return { ...delivery, secrets: sealedSecrets.map((sealed) => sealer.open(sealed, 'webhook-secret')) };
}

/** The workflow of its retries is lost: the relay makes the next try, and its count goes on. */
export async function reclaimDelivery(db: Queryable, deliveryId: string): Promise<void> {
  await db.query({
    name: 'reclaim_delivery',
    text: `update webhook_deliveries set retry_workflow_started_at = null, leased_until = '-infinity'
      where id = $1 and status = 'pending'`,
    values: [deliveryId],
  });
}

/** Which of these deliveries PostgreSQL has. */
export async function findKnownDeliveries(db: Queryable, deliveryIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find_known_deliveries',
    text: 'select id from webhook_deliveries where id = any ($1::uuid[])',
    values: [deliveryIds],
  });
  return new Set(rows.map(({ id }) => id));
}
