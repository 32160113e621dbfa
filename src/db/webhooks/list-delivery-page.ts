import { z } from 'zod';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../domain/events';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import type { PageStart } from '../payments/list-payment-page';
import { ALL_SUBJECT_TABLES } from '../transitions/subjects';

export interface DeliveryPageFilter {
  readonly merchantId: string;
  readonly status: 'pending' | 'delivered' | 'dead' | null;
  readonly event: WebhookEvent | null;
  readonly endpointId: string | null;
  /** Inclusive, as is `createdTo`; null: not limited. */
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
  /** Where the page begins; null: with the newest delivery. */
  readonly start: PageStart | null;
}

/** Why a delivery is dead. */
const DEAD_REASONS = ['attempts_exhausted', 'endpoint_gone', 'endpoint_disabled', 'endpoint_failing'] as const;

const rowSchema = z.object({
  id: z.string(),
  createdAt: z.coerce.date(),
  event: z.enum(WEBHOOK_EVENTS),
  referenceId: z.string(),
  url: z.string(),
  status: z.enum(['pending', 'delivered', 'dead']),
  attempts: z.number(),
  deadReason: z.enum(DEAD_REASONS).nullable(),
  /** The last attempt, unless it is delivered or dead; null: there was none, or it had no response. */
  statusCode: z.number().nullable(),
  failure: z.string().nullable(),
});

/** A delivery in a list. */
export type DeliveryRow = z.infer<typeof rowSchema>;

const positionSchema = rowSchema.pick({ createdAt: true, id: true });

export interface DeliveryPage {
  /** In the order of the direction: those nearest to the start first. */
  readonly deliveries: readonly DeliveryRow[];
  /** The last of the 2,000 deliveries that were compared with the filter, if fewer than the limit match. */
  readonly searchedTo: z.infer<typeof positionSchema> | null;
}

const MAX_SEARCHED = 2_000;

const pageSchema = z.object({
  last: positionSchema.nullable(),
  deliveries: z.array(rowSchema),
});

/**
 * At most `limit` deliveries. The indexes have merchant and time, also of dead ones alone; other filters search the
 * nearest 2,000 of the range, until `limit` match.
 */
export async function listDeliveryPage(
  db: Queryable,
  filter: DeliveryPageFilter,
  limit: number,
): Promise<DeliveryPage> {
  const { status, event, endpointId } = filter;
  const isSearch = event !== null || endpointId !== null || (status !== null && status !== 'dead');
  const { rows } = await db.query(pageStatement(filter, isSearch ? MAX_SEARCHED : limit, limit));
  const { last, deliveries } = pageSchema.parse(onlyRow(rows));
  return { deliveries, searchedTo: isSearch ? last : null };
}

const ORDERS = {
  older: { comparison: '<', order: 'desc' },
  newer: { comparison: '>', order: 'asc' },
} as const;

const KEYS = [...new Set(ALL_SUBJECT_TABLES.flatMap(({ idColumn, versionColumn }) => [idColumn, versionColumn]))];

const REFERENCES = ALL_SUBJECT_TABLES.map(
  ({ events, referenceColumn, idColumn, versionColumn }) => `
        select body::json ->> '${referenceColumn}' as reference from ${events}
        where ${idColumn} = matches.${idColumn} and ${versionColumn} = matches.${versionColumn}`,
);

/**
 * A search ends with the last match that the page shows. It reads few buffers for each row: the body of the event has
 * the reference of its subject, and a delivery that has ended has its reason. The `case` keeps a plan from looking for
 * its attempt. The statement has no name: its conditions depend on the filter.
 */
function pageStatement(filter: DeliveryPageFilter, maxRead: number, limit: number) {
  const { merchantId, status, event, endpointId, createdFrom, createdTo, start } = filter;
  const { comparison, order } = ORDERS[start?.direction ?? 'older'];
  const values: unknown[] = [merchantId, maxRead, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const range = ['merchant_id = $1'];
  if (status === 'dead') range.push("status = 'dead'");
  if (createdFrom) range.push(`created_at >= ${bind(createdFrom)}`);
  if (createdTo) range.push(`created_at <= ${bind(createdTo)}`);
  if (start) range.push(`(created_at, id) ${comparison} (${bind(start.than.createdAt)}, ${bind(start.than.id)})`);
  const criteria = ['true'];
  if (status !== null) criteria.push(`status = ${bind(status)}`);
  if (endpointId !== null) criteria.push(`endpoint_id = ${bind(endpointId)}`);
  if (event !== null) criteria.push(`event = ${bind(event)}`);
  const nearest = `from webhook_deliveries where ${range.join(' and ')} order by created_at ${order}, id ${order}`;
  const text = `
    with matches as materialized (
      select * from (
        select id, ${KEYS.join(', ')}, endpoint_id, event, status, dead_reason, attempts_total, created_at
        ${nearest} limit $2
      ) searched
      where ${criteria.join(' and ')} order by created_at ${order}, id ${order} limit $3
    ), endpoints as (
      select id, url from webhook_endpoints where id = any(array(select distinct endpoint_id from matches))
    ), found as (
      select matches.id, matches.created_at as "createdAt", matches.event,
        coalesce(about.reference, (
          select reference_id from payments where payments.id = matches.payment_id)) as "referenceId",
        endpoint.url, matches.status, matches.attempts_total as attempts, matches.dead_reason as "deadReason",
        last.status_code as "statusCode", last.failure
      from matches cross join lateral (${REFERENCES.join(' union all ')}) about
      join endpoints endpoint on endpoint.id = matches.endpoint_id
      left join webhook_attempts last on last.delivery_id = case matches.status when 'pending' then matches.id end
        and last.number = matches.attempts_total
    )
    select case when (select count(*) from matches) < $3 then (
        select json_build_object('createdAt', created_at, 'id', id) ${nearest} offset $2 - 1 limit 1
      ) end as last,
      (select coalesce(json_agg(found order by "createdAt" ${order}, id ${order}), '[]') from found) as deliveries`;
  return { text, values };
}
