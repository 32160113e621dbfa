import { OPEN_STATUSES, PAID_STATUSES } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { literalList } from '../connection/statement';

/** The customer has paid, and the money is not yet in the available balance. */
const PENDING_STATUSES = PAID_STATUSES.filter((status) => OPEN_STATUSES.includes(status));

const IS_PENDING = (column: string) => `${column} in (${literalList(PENDING_STATUSES)})`;

/**
 * What a merchant's payments add to its balance when they are settled: the totals, and what has changed since they were
 * counted, of which there are some seconds. The sum of the payments read 70,000 buffers beside a million of them.
 * PostgreSQL does not know that time when it plans. For a range with one end it assumes a third of the transitions,
 * and would read all of them; for one with two ends a two-hundredth. It would join them with all payments, so each is
 * looked up.
 */
export async function readPendingBalance(db: Queryable, merchantId: string): Promise<number> {
  const { rows } = await db.query<{ pendingRupiah: number }>({
    name: 'read_pending_balance',
    text: `select (
        coalesce((
          select sum(net_rupiah) from payment_hour_totals where merchant_id = $1 and ${IS_PENDING('status')}
        ), 0) + coalesce((
          select sum(
            (select net_rupiah from payments where payments.id = transition.payment_id and payments.merchant_id = $1)
              * ((${IS_PENDING('to_status')})::integer - coalesce((${IS_PENDING('from_status')})::integer, 0)))
          from payment_transitions transition
          where recorded_at > (select recorded_until from totals_progress) and recorded_at < 'infinity'
        ), 0)
      )::bigint as "pendingRupiah"`,
    values: [merchantId],
  });
  return onlyRow(rows).pendingRupiah;
}
