import type { PaymentEvent } from '../../domain/events';
import type { Queryable } from '../connection/pool';

export interface DeliveryPageFilter {
  readonly merchantId: string;
  readonly status: 'pending' | 'delivered' | 'dead' | null;
  readonly event: PaymentEvent | null;
  readonly endpointId: string | null;
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
  /** Only older deliveries than this one. */
  readonly before: DeliveryPosition | null;
}

export interface DeliveryPosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** A delivery in a list. */
export interface DeliveryRow extends DeliveryPosition {
  readonly event: PaymentEvent;
  readonly referenceId: string;
  readonly url: string;
  readonly status: 'pending' | 'delivered' | 'dead';
  readonly attempts: number;
  /** The last attempt; null: there was none, or it had no response. */
  readonly statusCode: number | null;
  readonly failure: string | null;
}

/** Among this many of the newest deliveries a filter without an index searches. */
export const SEARCHED_DELIVERIES = 2_000;

/** The newest first. Dead ones have an index of their own; the other filters search the newest 2,000. */
export async function listDeliveryPage(
  db: Queryable,
  { merchantId, status, event, endpointId, createdFrom, createdTo, before }: DeliveryPageFilter,
  limit: number,
): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>(
    `with newest as (
       select id, payment_id, payment_version, endpoint_id, status, attempts_total, created_at
       from webhook_deliveries
       where merchant_id = $1 ${status === 'dead' ? "and status = 'dead'" : ''}
         and created_at >= coalesce($5::timestamptz, '-infinity') and created_at <= coalesce($6::timestamptz, 'infinity')
         and (created_at, id) < (coalesce($7::timestamptz, 'infinity'), coalesce($8::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
       order by created_at desc, id desc limit ${SEARCHED_DELIVERIES}
     ), found as (
       select newest.*, event.event from newest
       join webhook_events event using (payment_id, payment_version)
       where ($2::text is null or newest.status = $2) and ($3::text is null or event.event = $3)
         and ($4::uuid is null or newest.endpoint_id = $4)
       order by newest.created_at desc, newest.id desc limit $9
     )
     select found.id, found.created_at as "createdAt", found.event, payments.reference_id as "referenceId",
       endpoint.url, found.status, found.attempts_total as attempts, last.status_code as "statusCode", last.failure
     from found join payments on payments.id = found.payment_id and payments.merchant_id = $1
     join webhook_endpoints endpoint on endpoint.id = found.endpoint_id
     left join webhook_attempts last on last.delivery_id = found.id and last.number = found.attempts_total
     order by found.created_at desc, found.id desc`,
    [merchantId, status, event, endpointId, createdFrom, createdTo, before?.createdAt, before?.id, limit],
  );
  return rows;
}
