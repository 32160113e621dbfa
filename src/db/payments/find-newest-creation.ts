import { PAYMENT_STATUSES } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { NEWEST_FIRST, STATUS } from './payment-indexes';

/** The creation time of the newest payment; undefined if there is none. */
export async function findNewestCreation(db: Queryable): Promise<Date | undefined> {
  const { rows } = await db.query<{ createdAt: Date }>({
    name: 'find_newest_creation',
    text: `select newest.created_at as "createdAt"
      from unnest($1::text[]) as wanted (status) cross join lateral (
        select created_at from payments where ${STATUS} = wanted.status
        order by ${NEWEST_FIRST} limit 1
      ) newest
      order by newest.created_at desc limit 1`,
    values: [PAYMENT_STATUSES],
  });
  return rows[0]?.createdAt;
}
