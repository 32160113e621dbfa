import type { Queryable } from '../../db/connection/pool';
import { IS_UNCONFIRMED_REFUND } from '../../db/operations/overdue-payments';
import type { PaymentStatus } from '../../domain/payment-transitions';
import type { Refund } from './show-payment';

/** A refund that an operator has to resolve, or that has taken too long. */
export interface StuckRefund extends Omit<Refund, 'submitAt' | 'finishedAt' | 'providerReference'> {
  readonly paymentId: string;
  readonly referenceId: string;
  readonly merchantId: string;
  /**
   * `refund_failed`: the provider rejected it, an operator decides. `refund_processing`: the worker still queries it.
   */
  readonly paymentStatus: Extract<PaymentStatus, 'refund_failed' | 'refund_processing'>;
}

/**
 * Rejected refunds, and refunds that the provider has not confirmed for a long time, oldest first. If there are more
 * than `limit`, rejected refunds of the oldest payments are selected.
 */
export async function listStuckRefunds(db: Queryable, limit: number): Promise<StuckRefund[]> {
  const { rows } = await db.query<StuckRefund>(
    `select payment.id as "paymentId", payment.reference_id as "referenceId", payment.merchant_id as "merchantId",
       payment.status as "paymentStatus", refund.number, refund.refund_key as "refundKey", refund.status,
       refund.amount_rupiah as "amountRupiah", refund.requested_at as "requestedAt",
       refund.submitted_at as "submittedAt", refund.failure_reason as "failureReason"
     from (
       select * from payments where status = 'refund_failed' order by (created_at at time zone 'utc'), id limit $1
     ) payment
     cross join lateral (select * from refunds where payment_id = payment.id order by number desc limit 1) refund
     union all
     select payment.id, payment.reference_id, payment.merchant_id, payment.status, refund.number, refund.refund_key,
       refund.status, refund.amount_rupiah, refund.requested_at, refund.submitted_at, refund.failure_reason
     from (
       select * from refunds where ${IS_UNCONFIRMED_REFUND} order by submitted_at limit $1
     ) refund join payments payment on payment.id = refund.payment_id
     order by "requestedAt" limit $1`,
    [limit],
  );
  return rows;
}
