import type { Balance } from '../../domain/balance';
import { OPEN_STATUSES, PAID_STATUSES } from '../../domain/payment-transitions';
import { OPEN_PAYOUT_STATUSES } from '../../domain/payout-transitions';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { literalList } from '../connection/statement';

/** The customer has paid, and the money is not yet in the available balance. */
const PENDING_STATUSES = PAID_STATUSES.filter((status) => OPEN_STATUSES.includes(status));

const IS_PENDING = (column: string) => `${column} in (${literalList(PENDING_STATUSES)})`;

/**
 * What the payments add to the balance when they are settled: the totals, and what has changed since they were counted,
 * of which there are some seconds. The sum of the payments read 70,000 buffers beside a million of them. PostgreSQL
 * does not know that number when it plans. For a range with one end it assumes a third of the transitions, and would
 * read all of them; for one with two ends a two-hundredth. It would join them with all payments, so each is looked up.
 */
const PENDING = `coalesce((
    select sum(net_rupiah) from payment_hour_totals where merchant_id = $1 and ${IS_PENDING('status')}
  ), 0) + coalesce((
    select sum(
      (select net_rupiah from payments where payments.id = transition.payment_id and payments.merchant_id = $1)
        * ((${IS_PENDING('to_status')})::integer - coalesce((${IS_PENDING('from_status')})::integer, 0)))
    from payment_transitions transition
    where number > (select transition_number from totals_progress) and number <= ${Number.MAX_SAFE_INTEGER}
  ), 0)`;

/** What the merchant receives from its open payouts: their gross amount has left the available balance. */
const IN_TRANSIT = `coalesce((
    select sum(amount_rupiah) from payouts
    where merchant_id = $1 and status in (${literalList(OPEN_PAYOUT_STATUSES)})
  ), 0)`;

/** The balance of a merchant now. In one statement, so that no money is in two of the sums, or in none. */
export async function getBalance(db: Queryable, merchantId: string): Promise<Balance> {
  const { rows } = await db.query<Balance>({
    name: 'get_balance',
    text: `select now() as "asOf", available_balance($1) as "availableRupiah", (${PENDING})::bigint as "pendingRupiah",
      (${IN_TRANSIT})::bigint as "inTransitRupiah"`,
    values: [merchantId],
  });
  return onlyRow(rows);
}
