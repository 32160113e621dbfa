import type { Queryable } from '../connection/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from '../payments/payment-row';

/** The newest payments of a link, newest first, by their numbers. Archived ones are left out. */
export async function listNewestPayments(db: Queryable, linkId: string, limit: number): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>({
    name: 'list_newest_payments_of_link',
    text: `select ${PAYMENT_COLUMNS} from payments where id = any (array(
        select payment_id from payment_link_payments own where own.link_id = $1 order by own.number desc limit $2
      )) order by created_at desc, id desc`,
    values: [linkId, limit],
  });
  return rows;
}
