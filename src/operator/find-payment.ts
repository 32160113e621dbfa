import { z } from 'zod';
import type { Queryable } from '../db/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from '../db/queries/payment-row';
import { requireRow } from '../db/require-row';

/**
 * A payment of any merchant.
 * @param idOrReference its UUID or `reference_id`
 * @throws NotFoundError if there is no such payment
 */
export async function findPayment(db: Queryable, idOrReference: string): Promise<PaymentRow> {
  const column = z.guid().safeParse(idOrReference).success ? 'id' : 'reference_id';
  const { rows } = await db.query<PaymentRow>(`select ${PAYMENT_COLUMNS} from payments where ${column} = $1`, [
    idOrReference,
  ]);
  return requireRow(rows, `There is no payment ${idOrReference}; lunas payments list shows the newest.`);
}
