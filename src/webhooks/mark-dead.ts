import type { Queryable } from '../db/connection/pool';
import { increment } from '../observability/metrics';
import { CIRCUIT_BREAKER } from './retry-policy';

/** An update of one row writes five indexes, so a batch writes about 4,000 buffers. */
const BATCH = 150;

/**
 * Marks pending deliveries of an endpoint as dead, in batches, so that no statement is long. If the endpoint is
 * disabled, all of them. If it is failing, those that waited in the outbox for 72 hours; retry workflows have a limit
 * of their own.
 * @param stopping ends it after the current batch; another call continues
 */
export async function markDead(db: Queryable, endpointId: string, stopping?: AbortSignal): Promise<void> {
  while ((await markBatchDead(db, endpointId)) === BATCH) if (stopping?.aborted) return;
}

/**
 * Compares rows, not columns: else PostgreSQL expects a few hundred rows and sorts all pending rows of the endpoint.
 */
async function markBatchDead(db: Queryable, endpointId: string): Promise<number> {
  const { rowCount } = await db.query({
    name: 'mark_batch_dead',
    text: `
      with endpoint as (
        select status, case
          when status = 'disabled' then 'infinity'
          when next_probe_at is not null then now() - interval '${CIRCUIT_BREAKER.maxQueueSeconds} seconds'
          else '-infinity' end as dead_before
        from webhook_endpoints where id = $1
      ),
      outbox as (
        select id from webhook_deliveries
        where status = 'pending' and retry_workflow_started_at is null and (endpoint_id, queued_at) >= ($1, '-infinity')
          and (endpoint_id, queued_at) < ($1, (select dead_before from endpoint))
        order by endpoint_id, queued_at limit ${BATCH} for update skip locked
      ),
      retried as (
        select id from webhook_deliveries
        where status = 'pending' and retry_workflow_started_at is not null
          and (endpoint_id, id) >= ($1, '00000000-0000-0000-0000-000000000000')
          and (endpoint_id, id) <= ($1, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
          and (select status from endpoint) = 'disabled'
        order by endpoint_id, id limit ${BATCH} for update skip locked
      )
      update webhook_deliveries set status = 'dead', finished_at = now(),
        dead_reason = case endpoint.status when 'disabled' then 'endpoint_disabled' else 'endpoint_failing' end
      from endpoint
      where id = any (array (select id from outbox union all select id from retried limit ${BATCH}))`,
    values: [endpointId],
  });
  increment('lunas_webhook_deliveries_total', { outcome: 'dead' }, rowCount ?? 0);
  return rowCount ?? 0;
}
