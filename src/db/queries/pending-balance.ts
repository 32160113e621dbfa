import { OPEN_STATUSES, PAID_STATUSES } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { literalList } from '../connection/statement';

/** The customer has paid, and the money is not yet in the available balance. */
const PENDING_STATUSES = PAID_STATUSES.filter((status) => OPEN_STATUSES.includes(status));

/** What a merchant's payments add to its balance when they are settled. */
export async function readPendingBalance(db: Queryable, merchantId: string): Promise<number> {
  const { rows } = await db.query<{ pendingRupiah: number }>({
    name: 'read_pending_balance',
    text: `select coalesce(sum(net_rupiah), 0)::bigint as "pendingRupiah" from payments
      where merchant_id = $1 and status in (${literalList(PENDING_STATUSES)})`,
    values: [merchantId],
  });
  return onlyRow(rows).pendingRupiah;
}
