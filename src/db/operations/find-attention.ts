import type { Queryable } from '../connection/pool';
import { IS_UNCONFIRMED_REFUND } from './overdue-payments';

/** Each number is counted up to this limit, so that a page reads few rows whatever the number. */
export const ATTENTION_LIMIT = 100;

/** What of a merchant's payments waits for longer than it should. */
export interface PaymentAttention {
  readonly refundsFailed: number;
  /** The provider has not confirmed them in ten minutes. */
  readonly refundsUnconfirmed: number;
}

export async function findPaymentAttention(db: Queryable, merchantId: string): Promise<PaymentAttention> {
  const { rows } = await db.query<PaymentAttention>({
    name: 'find_payment_attention',
    text: `select
        (select count(*) from (
          select from payments where merchant_id = $1 and status = 'refund_failed' limit ${ATTENTION_LIMIT}
        ) failed) as "refundsFailed",
        (select count(*) from (
          select from payments
          where merchant_id = $1 and status = 'refund_processing' and exists (
            select from refunds where payment_id = payments.id and ${IS_UNCONFIRMED_REFUND}
          ) limit ${ATTENTION_LIMIT}
        ) unconfirmed) as "refundsUnconfirmed"`,
    values: [merchantId],
  });
  return rows[0] ?? { refundsFailed: 0, refundsUnconfirmed: 0 };
}
