import type { Queryable } from '../connection/pool';

interface DeadRange {
  readonly merchantId: string;
  /** The timestamps of the deliveries: not before `since`, before `until`. */
  readonly since: Date;
  readonly until: Date;
}

/** Dead deliveries that can be redelivered, to endpoints that are enabled; at most `limit`. */
export async function countDeadDeliveries(
  db: Queryable,
  { merchantId, since, until }: DeadRange,
  limit: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from (
       select from webhook_deliveries delivery join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
       where delivery.merchant_id = $1 and delivery.status = 'dead' and delivery.created_at >= $2
         and delivery.created_at < $3 and endpoint.status = 'enabled'
       limit $4
     ) counted`,
    [merchantId, since, until, limit],
  );
  return rows[0]?.count ?? 0;
}
