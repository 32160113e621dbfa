import type { Queryable } from '../db/pool';
import type { PaymentStatus } from '../domain/payment-transitions';
import type { RefundStatus } from '../domain/refund';

/** A refund that does not come to its end by itself, or takes suspiciously long to. */
export interface StuckRefund {
  readonly paymentId: string;
  readonly referenceId: string;
  readonly merchantId: string;
  /** `refund_failed`: the provider refused it, an operator decides. `refund_processing`: the provider is still being asked. */
  readonly paymentStatus: Extract<PaymentStatus, 'refund_failed' | 'refund_processing'>;
  readonly round: number;
  readonly refundKey: string;
  readonly status: RefundStatus;
  readonly amountRupiah: number;
  readonly requestedAt: Date;
  readonly submittedAt: Date | null;
  readonly failureReason: string | null;
}

/** A provider that is well confirms a refund within seconds. */
const LONG_SUBMITTED = '10 minutes';

/** The refunds that an operator should look at, oldest first: refused ones, and those that the provider does not confirm. */
export async function listStuckRefunds(db: Queryable, limit: number): Promise<StuckRefund[]> {
  const { rows } = await db.query<StuckRefund>(
    `select payment.id as "paymentId", payment.reference_id as "referenceId", payment.merchant_id as "merchantId",
       payment.status as "paymentStatus", refund.round, refund.refund_key as "refundKey", refund.status,
       refund.amount_rupiah as "amountRupiah", refund.requested_at as "requestedAt",
       refund.submitted_at as "submittedAt", refund.failure_reason as "failureReason"
     from (
       select distinct on (payment_id) refunds.* from refunds join payments on payments.id = payment_id
       where refunds.status = 'refused' and payments.status = 'refund_failed' order by payment_id, round desc
     ) refund join payments payment on payment.id = refund.payment_id
     union all
     select payment.id, payment.reference_id, payment.merchant_id, payment.status, refund.round, refund.refund_key,
       refund.status, refund.amount_rupiah, refund.requested_at, refund.submitted_at, refund.failure_reason
     from refunds refund join payments payment on payment.id = refund.payment_id
     where refund.status = 'submitted' and refund.submitted_at < now() - interval '${LONG_SUBMITTED}'
     order by "requestedAt" limit $1`,
    [limit],
  );
  return rows;
}
