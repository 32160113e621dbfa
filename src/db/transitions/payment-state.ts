import type { PaymentState } from '../../domain/payment';
import type { RefundStatus } from '../../domain/refund';
import type { Queryable } from '../pool';

/** Where a payment stands, as the database answers it; the refund's columns are absent or null where none is concerned. */
export interface StateRow {
  readonly status: PaymentState['status'];
  readonly version: number;
  readonly settlesAt: Date | null;
  readonly number?: number | null;
  readonly submitAt?: Date | null;
  readonly refundStatus?: RefundStatus | null;
}

export function stateOf({ status, version, settlesAt, number, submitAt, refundStatus }: StateRow): PaymentState {
  return {
    status,
    version,
    ...(settlesAt && { settlesAtMs: settlesAt.getTime() }),
    ...(number &&
      submitAt &&
      refundStatus && { refund: { number, submitAtMs: submitAt.getTime(), status: refundStatus } }),
  };
}

/** The truth: where the payment stands now, its latest refund included. */
export async function readState(db: Queryable, paymentId: string): Promise<PaymentState> {
  const { rows } = await db.query<StateRow>({
    name: 'payment_state',
    text: `
      select payment.status, payment.version, payment.settlement_due_at as "settlesAt",
        refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus"
      from payments payment
      left join lateral (select * from refunds where payment_id = payment.id order by number desc limit 1) refund on true
      where payment.id = $1`,
    values: [paymentId],
  });
  if (!rows[0]) throw new Error(`Payment ${paymentId} is not in the database, or its writer has not committed yet`);
  return stateOf(rows[0]);
}
