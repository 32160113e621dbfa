import type { Queryable } from '../../db/connection/pool';
import type { Scope } from '../../domain/actor';
import { NotFoundError } from '../../errors';
import { lockedEndpoints, type DeliveryStatus } from '../../webhooks/outbox';

export interface Redelivery {
  /** Deliveries that are pending again. */
  readonly redelivered: number;
  /** Deliveries that stay dead because their endpoints are disabled or deleted. */
  readonly skipped: number;
}

export interface RedeliveryRange {
  /** The events' timestamps: not before `since`, before `until`. */
  readonly since: Date;
  readonly until: Date;
  readonly merchantId?: string | undefined;
  /** Only the oldest so many; absent: all of them. */
  readonly limit?: number | undefined;
}

type RedeliveryRejection = 'pending' | 'endpoint_disabled' | 'endpoint_deleted';

interface RedeliverableState {
  readonly status: DeliveryStatus;
  readonly endpointStatus: 'enabled' | 'disabled';
  readonly isEndpointDeleted: boolean;
}

/** Why a delivery cannot be redelivered; null if it can. For the button of a page and for the request. */
export function redeliveryRejection({
  status,
  endpointStatus,
  isEndpointDeleted,
}: RedeliverableState): RedeliveryRejection | null {
  if (status === 'pending') return 'pending';
  if (isEndpointDeleted) return 'endpoint_deleted';
  return endpointStatus === 'disabled' ? 'endpoint_disabled' : null;
}

const ENABLED_ENDPOINTS =
  "status = 'enabled' and id in (select endpoint_id from webhook_deliveries where id = any ($1))";

/**
 * Starts a new retry cycle under the same delivery id; the log of earlier attempts stays. `lunas listen` forwards it
 * too. $1: delivery ids.
 */
const REQUEUE_DELIVERIES = `
  with ${lockedEndpoints(ENABLED_ENDPOINTS)}
  update webhook_deliveries delivery set status = 'pending', dead_reason = null, finished_at = null,
    retry_workflow_started_at = null, leased_until = '-infinity', attempts_in_cycle = 0, queued_at = clock_timestamp(),
    redelivered_xid = pg_current_xact_id()
  from locked_endpoint endpoint
  where endpoint.id = delivery.endpoint_id and delivery.id = any ($1)`;

/** A delivery that is named for a redelivery. */
export interface NamedDelivery extends RedeliverableState {
  readonly id: string;
  readonly endpointId: string;
}

/** In the order of the ids. @throws NotFoundError for the first one that is not in the scope */
export async function findNamedDeliveries(
  db: Queryable,
  scope: Scope,
  deliveryIds: readonly string[],
): Promise<readonly NamedDelivery[]> {
  const { rows } = await db.query<NamedDelivery>(
    `select delivery.id, delivery.status, endpoint.id as "endpointId", endpoint.status as "endpointStatus",
       endpoint.deleted_at is not null as "isEndpointDeleted"
     from webhook_deliveries delivery join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
     where delivery.id = any ($1) and ($2::uuid is null or delivery.merchant_id = $2)`,
    [deliveryIds, scope === 'all' ? null : scope.merchantId],
  );
  return deliveryIds.map((id) => {
    const delivery = rows.find((row) => row.id === id.toLowerCase());
    if (delivery === undefined) throw new NotFoundError('delivery', id);
    return delivery;
  });
}

/** Redelivers those of the deliveries that are dead or delivered. */
export async function redeliverNamed(db: Queryable, deliveryIds: readonly string[]): Promise<Redelivery> {
  const { rowCount } = await db.query(`${REQUEUE_DELIVERIES} and delivery.status <> 'pending'`, [deliveryIds]);
  return { redelivered: rowCount ?? 0, skipped: 0 };
}

/** An update of one row writes six indexes: a batch touches about 4,000 buffers. */
const BATCH_SIZE = 150;

/**
 * Redelivers the dead deliveries of a time range, except to disabled endpoints. It works in batches, oldest first, so
 * that each statement is short for any number of deliveries.
 */
export async function redeliverRange(db: Queryable, range: RedeliveryRange): Promise<Redelivery> {
  let [redelivered, skipped] = [0, 0];
  const { limit = Infinity } = range;
  for (let after: DeadDelivery = { createdAt: range.since, id: MIN_ID }; ;) {
    const batchSize = Math.min(BATCH_SIZE, limit - redelivered - skipped);
    const dead = batchSize === 0 ? [] : await listDead(db, range, after, batchSize);
    const last = dead.at(-1);
    if (!last) return { redelivered, skipped };
    const deliverable = dead.filter(({ isDeliverable }) => isDeliverable).map(({ id }) => id);
    // Not `status = 'dead'`: PostgreSQL may then search the whole partial index of dead deliveries for the ids.
    const { rowCount } = await db.query(`${REQUEUE_DELIVERIES} and delivery.status not in ('pending', 'delivered')`, [
      deliverable,
    ]);
    redelivered += rowCount ?? 0;
    skipped += dead.length - deliverable.length;
    after = last;
  }
}

interface DeadDelivery {
  readonly createdAt: Date;
  readonly id: string;
}

const MIN_ID = '00000000-0000-0000-0000-000000000000';

async function listDead(
  db: Queryable,
  { until, merchantId }: RedeliveryRange,
  after: DeadDelivery,
  batchSize: number,
): Promise<(DeadDelivery & { readonly isDeliverable: boolean })[]> {
  const { rows } = await db.query<DeadDelivery & { isDeliverable: boolean }>(
    `select delivery.id, delivery.created_at as "createdAt", endpoint.status = 'enabled' as "isDeliverable"
     from webhook_deliveries delivery join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
     where delivery.status = 'dead' and (delivery.created_at, delivery.id) > ($1, $2) and delivery.created_at < $3
       and ($4::uuid is null or delivery.merchant_id = $4)
     order by delivery.created_at, delivery.id limit $5`,
    [after.createdAt, after.id, until, merchantId, batchSize],
  );
  return rows;
}
