import { UserError } from '../config';
import type { Queryable } from '../db/pool';
import type { DeliveryStatus } from '../webhooks/deliveries';

export interface Redelivery {
  /** How many are pending again. */
  readonly redelivered: number;
  /** How many are not, because their endpoints are disabled. */
  readonly skipped: number;
}

export interface RedeliveryRange {
  /** When the events happened: from `since` on, before `until`. */
  readonly since: Date;
  readonly until: Date;
  readonly merchantId?: string | undefined;
}

/** Under the same delivery id, with a fresh set of tries; the log of the earlier ones stays. */
const PENDING_AGAIN = `
  update webhook_deliveries delivery set status = 'pending', dead_reason = null, finished_at = null,
    handed_over_at = null, leased_until = '-infinity', tries = 0, queued_at = now()
  from webhook_endpoints endpoint
  where endpoint.id = delivery.endpoint_id and endpoint.status = 'enabled'`;

/**
 * Sends deliveries again that are over, dead or delivered.
 * @throws UserError when one of them cannot be redelivered; then none is
 */
export async function redeliver(db: Queryable, deliveryIds: readonly string[]): Promise<Redelivery> {
  await requireRedeliverable(db, deliveryIds);
  const { rowCount } = await db.query(`${PENDING_AGAIN} and delivery.status <> 'pending' and delivery.id = any ($1)`, [
    deliveryIds,
  ]);
  return { redelivered: rowCount ?? 0, skipped: 0 };
}

/** Sends again what is dead of a range of time, except to endpoints that are disabled. */
export async function redeliverRange(db: Queryable, range: RedeliveryRange): Promise<Redelivery> {
  const inRange = `delivery.status = 'dead' and delivery.created_at >= $1 and delivery.created_at < $2
    and ($3::uuid is null or delivery.merchant_id = $3)`;
  const values = [range.since, range.until, range.merchantId];
  const { rowCount } = await db.query(`${PENDING_AGAIN} and ${inRange}`, values);
  const { rows } = await db.query<{ skipped: number }>(
    `select count(*) as skipped from webhook_deliveries delivery
     join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id and endpoint.status = 'disabled'
     where ${inRange}`,
    values,
  );
  return { redelivered: rowCount ?? 0, skipped: rows[0]?.skipped ?? 0 };
}

async function requireRedeliverable(db: Queryable, deliveryIds: readonly string[]): Promise<void> {
  const { rows } = await db.query<{ id: string; status: DeliveryStatus; disabledEndpoint: string | null }>(
    `select delivery.id, delivery.status,
       case endpoint.status when 'disabled' then endpoint.id end as "disabledEndpoint"
     from webhook_deliveries delivery join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
     where delivery.id = any ($1)`,
    [deliveryIds],
  );
  for (const id of deliveryIds) {
    const delivery = rows.find((row) => row.id === id.toLowerCase());
    if (!delivery) throw new UserError(`There is no delivery ${id}; lunas webhooks deliveries shows the newest.`);
    if (delivery.status === 'pending') throw new UserError(`The delivery ${id} is pending already.`);
    if (delivery.disabledEndpoint !== null) {
      const endpointId = delivery.disabledEndpoint;
      throw new UserError(
        `The endpoint of the delivery ${id} is disabled; lunas webhooks enable ${endpointId} comes first.`,
      );
    }
  }
}
