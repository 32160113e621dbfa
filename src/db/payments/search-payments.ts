import type { Queryable } from '../connection/pool';
import { beginsWith, LOWER_ORDER_ID } from './payment-indexes';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/** What a text can mean of a merchant's payments. */
export interface PaymentText {
  readonly merchantId: string;
  /** An order number, or its beginning, in any case. */
  readonly orderId: string;
  /** The beginning of a reference; null if none begins so. */
  readonly reference: string | null;
  /** The customer's amount; null if the text is none. */
  readonly totalRupiah: number | null;
}

/** What the text is of the payment: its order number, the beginning of it or of its reference, or its amount. */
type TextMatch = 'order' | 'beginning' | 'reference' | 'amount';

export interface MatchedPayment extends PaymentRow {
  readonly match: TextMatch;
}

/** References have no index with the merchant: so many of all merchants are read. */
export const MAX_REFERENCES = 100;
/** The greatest character of a reference, and more of them than one has. */
const AFTER_REFERENCE = 'Z'.repeat(20);

const MERCHANT = 'merchant_id = $1';
const NEWEST_FIRST = 'order by created_at desc, id desc limit $2';

/**
 * Payments of each match, at most `limit` of each: the newest of an order or an amount, and in the order of their index
 * those with a beginning. The statement has no name, because the pattern has to be known to the plan.
 */
export async function findPaymentsByText(
  db: Queryable,
  { merchantId, orderId, reference, totalRupiah }: PaymentText,
  limit: number,
): Promise<MatchedPayment[]> {
  const values: unknown[] = [merchantId, limit, orderId, beginsWith(orderId)];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const parts = [
    partOf('order', `${MERCHANT} and ${LOWER_ORDER_ID} = lower($3) ${NEWEST_FIRST}`),
    partOf(
      'beginning',
      `${MERCHANT} and ${LOWER_ORDER_ID} like lower($4) and ${LOWER_ORDER_ID} <> lower($3)
       order by ${LOWER_ORDER_ID} using ~<~ limit $2`,
    ),
  ];
  if (totalRupiah !== null)
    parts.push(partOf('amount', `${MERCHANT} and total_rupiah = ${bind(totalRupiah)} ${NEWEST_FIRST}`));
  if (reference !== null) parts.push(referencePart(bind(reference)));
  const text = `select match, ${PAYMENT_COLUMNS} from (${parts.join(' union all ')}) payments`;
  const { rows } = await db.query<MatchedPayment>({ text, values });
  return rows;
}

function partOf(match: TextMatch, conditions: string): string {
  return `(select '${match}' as match, payments.* from payments where ${conditions})`;
}

/** Digits and capitals have the same order in each collation. */
function referencePart(beginning: string): string {
  return `(select 'reference' as match, payments.* from (
      select * from payments where reference_id between ${beginning} and ${beginning} || '${AFTER_REFERENCE}'
      order by reference_id limit ${MAX_REFERENCES}
    ) payments
    where ${MERCHANT} and starts_with(reference_id, ${beginning}) limit $2)`;
}
