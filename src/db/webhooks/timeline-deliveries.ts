import type { Queryable } from '../connection/pool';
import { SUBJECT_TABLES, type SubjectTables } from '../transitions/subjects';

/** A webhook in the timeline of a payment or a payout. Times are milliseconds since 1970. */
export interface TimelineDelivery {
  readonly id: string;
  /** The version of the object that caused it. */
  readonly version: number;
  readonly event: string;
  /** Only its origin: path and query may contain secrets. */
  readonly origin: string;
  readonly status: 'pending' | 'delivered' | 'dead';
  readonly attempts: readonly TimelineAttempt[];
}

interface TimelineAttempt {
  readonly number: number;
  readonly atMs: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
}

export const EPOCH_MS = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`;

/** One row of JSON, `part`, for each webhook of an object. $1: the merchant, $2: the object. */
export const deliveriesSql = ({ events, idColumn, versionColumn }: SubjectTables) => `
    select json_build_object('id', delivery.id, 'version', delivery.${versionColumn}, 'event', event.event,
      'origin', substring(endpoint.url from '^[a-z]+://[^/?#]+'), 'status', delivery.status, 'attempts', (
        select coalesce(json_agg(json_build_object('number', number, 'atMs', ${EPOCH_MS('started_at')},
          'durationMs', duration_ms, 'statusCode', status_code) order by number), '[]')
        from webhook_attempts where delivery_id = delivery.id)) as part
    from webhook_deliveries delivery
    join ${events} event
      on event.${idColumn} = delivery.${idColumn} and event.${versionColumn} = delivery.${versionColumn}
    join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
    where delivery.${idColumn} = $2 and delivery.merchant_id = $1
    order by delivery.${versionColumn}, delivery.created_at, delivery.id limit 200`;

/** The webhooks of a payout, in the order of their events; at most 200. */
export async function listPayoutDeliveries(
  db: Queryable,
  merchantId: string,
  payoutId: string,
): Promise<TimelineDelivery[]> {
  const { rows } = await db.query<{ part: TimelineDelivery }>({
    name: 'list_payout_deliveries',
    text: deliveriesSql(SUBJECT_TABLES.payout),
    values: [merchantId, payoutId],
  });
  return rows.map(({ part }) => part);
}
