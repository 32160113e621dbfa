import type { Queryable } from '../db/connection/pool';
import { COUNT_LIMIT } from '../observability/definitions';
import type { Sample } from '../observability/metrics';
import { CLAIMABLE, IS_IN_OUTBOX } from './outbox';

/**
 * Deliveries of a failing endpoint wait for a probe, and are no lag of the relay. The statement visits each endpoint
 * that has deliveries in the outbox, as the claim does, up to a limit.
 */
const RELAY_LAG = `
  with recursive pending (endpoint_id, position) as (
    (select endpoint_id, 1 from webhook_deliveries where ${IS_IN_OUTBOX} order by endpoint_id limit 1)
    union all
    select next.endpoint_id, position + 1 from pending cross join lateral (
      select endpoint_id from webhook_deliveries
      where ${IS_IN_OUTBOX} and webhook_deliveries.endpoint_id > pending.endpoint_id
      order by endpoint_id limit 1
    ) next where position < ${COUNT_LIMIT}
  )
  select 'lunas_webhook_relay_lag_seconds' as name, '{}'::json as labels,
    coalesce(extract(epoch from now() - min(oldest.queued_at)), 0)::float8 as value
  from pending
  join webhook_endpoints endpoint on endpoint.id = pending.endpoint_id and endpoint.next_probe_at is null
  cross join lateral (
    select queued_at from webhook_deliveries where endpoint_id = endpoint.id and ${CLAIMABLE}
    order by queued_at limit 1
  ) oldest`;

const OUTBOX_DEPTH = `
  select 'lunas_webhook_outbox_pending' as name, '{}'::json as labels, count(*) as value
  from (select from webhook_deliveries where ${IS_IN_OUTBOX} limit ${COUNT_LIMIT}) pending`;

/** The gauges of the outbox. */
export async function readOutboxGauges(db: Queryable): Promise<Sample[]> {
  const lag = await db.query<Sample>({ name: 'gauge_relay_lag', text: RELAY_LAG });
  const depth = await db.query<Sample>({ name: 'gauge_outbox', text: OUTBOX_DEPTH });
  return [...lag.rows, ...depth.rows];
}
