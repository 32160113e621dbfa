import { OPEN_PAYOUT_STATUSES } from '../../domain/payout-transitions';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { literalList } from '../connection/statement';

/** What the merchant receives from its open payouts: their gross amount has left the available balance. */
export async function readInTransitBalance(db: Queryable, merchantId: string): Promise<number> {
  const { rows } = await db.query<{ inTransitRupiah: number }>({
    name: 'read_in_transit_balance',
    text: `select coalesce(sum(amount_rupiah), 0)::bigint as "inTransitRupiah" from payouts
      where merchant_id = $1 and status in (${literalList(OPEN_PAYOUT_STATUSES)})`,
    values: [merchantId],
  });
  return onlyRow(rows).inTransitRupiah;
}
