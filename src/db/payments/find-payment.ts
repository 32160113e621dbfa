import type { Queryable } from '../connection/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/** A path names a payment by either of these. */
export type PaymentKey = { readonly id: string } | { readonly referenceId: string };

/** A payment of any merchant. */
export async function findAnyPayment(db: Queryable, key: PaymentKey): Promise<PaymentRow | undefined> {
  const [column, value] = columnAndValue(key);
  const { rows } = await db.query<PaymentRow>({
    name: `find_any_payment_by_${column}`,
    text: `select ${PAYMENT_COLUMNS} from payments where ${column} = $1`,
    values: [value],
  });
  return rows[0];
}

/** A payment of this merchant; undefined also if it is another merchant's. */
export async function findMerchantPayment(
  db: Queryable,
  merchantId: string,
  key: PaymentKey,
): Promise<PaymentRow | undefined> {
  const [column, value] = columnAndValue(key);
  const { rows } = await db.query<PaymentRow>({
    name: `find_merchant_payment_by_${column}`,
    text: `select ${PAYMENT_COLUMNS} from payments where ${column} = $1 and merchant_id = $2`,
    values: [value, merchantId],
  });
  return rows[0];
}

/**
 * The merchant of a payment: for the log only, since a caller must not learn that another merchant's payment exists.
 */
export async function findPaymentOwner(db: Queryable, key: PaymentKey): Promise<string | undefined> {
  const [column, value] = columnAndValue(key);
  const { rows } = await db.query<{ merchantId: string }>({
    name: `find_payment_owner_by_${column}`,
    text: `select merchant_id as "merchantId" from payments where ${column} = $1`,
    values: [value],
  });
  return rows[0]?.merchantId;
}

function columnAndValue(key: PaymentKey): ['id' | 'reference_id', string] {
  return 'id' in key ? ['id', key.id] : ['reference_id', key.referenceId];
}
