import { FINAL_STATUSES, type PaymentStatus } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';

/** A payment in a final status. */
export interface FinalPayment {
  readonly status: PaymentStatus;
  /** The customer's payment was recorded before the payment became final. */
  readonly wasPaid: boolean;
  readonly providerTransactionId: string | null;
  /** An operator refunded it, or its late payment, outside the provider. */
  readonly isManuallyRefunded: boolean;
}

/** Undefined while the payment is open. */
export async function findFinalPayment(db: Queryable, paymentId: string): Promise<FinalPayment | undefined> {
  const { rows } = await db.query<FinalPayment>({
    name: 'find_final_payment',
    text: `select status, paid_at is not null as "wasPaid", provider_transaction_id as "providerTransactionId",
        exists (select from refunds where payment_id = $1 and is_manual)
          or exists (select from late_payments where payment_id = $1 and is_manual) as "isManuallyRefunded"
      from payments where id = $1 and status = any ($2)`,
    values: [paymentId, FINAL_STATUSES],
  });
  return rows[0];
}

/** The amount of a late payment. */
export async function findLatePaymentAmount(db: Queryable, paymentId: string): Promise<number> {
  const { rows } = await db.query<{ totalRupiah: number }>({
    name: 'find_late_payment_amount',
    text: 'select total_rupiah as "totalRupiah" from late_payments where payment_id = $1',
    values: [paymentId],
  });
  if (!rows[0]) throw new Error(`Payment ${paymentId} has no late payment`);
  return rows[0].totalRupiah;
}
