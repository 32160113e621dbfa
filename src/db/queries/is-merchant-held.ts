import type { Queryable } from '../pool';

/** Whether the merchant of the payment is on hold. */
export async function isMerchantHeld(db: Queryable, paymentId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is_merchant_held',
    text: `select from payments join merchants on merchants.id = payments.merchant_id
      where payments.id = $1 and merchants.held_at is not null`,
    values: [paymentId],
  });
  return rowCount !== 0;
}
