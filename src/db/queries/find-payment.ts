import type { Queryable } from '../pool';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/** Either form by which a path names a payment. */
export type PaymentKey = { readonly id: string } | { readonly referenceId: string };

/** A payment of this merchant; undefined too when it is another's. */
export async function findMerchantPayment(
  db: Queryable,
  merchantId: string,
  key: PaymentKey,
): Promise<PaymentRow | undefined> {
  const [column, value] = 'id' in key ? ['id', key.id] : ['reference_id', key.referenceId];
  const { rows } = await db.query<PaymentRow>({
    name: `find_payment_by_${column}`,
    text: `select ${PAYMENT_COLUMNS} from payments where ${column} = $1 and merchant_id = $2`,
    values: [value, merchantId],
  });
  return rows[0];
}
