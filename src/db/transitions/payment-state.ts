import type { PaymentState } from '../../domain/payment';
import type { RefundStatus } from '../../domain/refund';
import type { Queryable } from '../connection/pool';

/** A payment's state as its row. The refund's columns are absent or null if the statement concerns no refund. */
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

/** The select list of a `StateRow`, for a table named or aliased `payments` and `LATEST_REFUND`. */
export const STATE_COLUMNS = `
  payments.status, payments.version, payments.settlement_due_at as "settlesAt",
  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus"`;

export const LATEST_REFUND = `
  left join lateral (select * from refunds where payment_id = payments.id order by number desc limit 1) refund on true`;

/** The payment's current state in PostgreSQL, with its latest refund. */
export async function readState(db: Queryable, paymentId: string): Promise<PaymentState> {
  const { rows } = await db.query<StateRow>({
    name: 'read_state',
    text: `select ${STATE_COLUMNS} from payments ${LATEST_REFUND} where payments.id = $1`,
    values: [paymentId],
  });
  if (!rows[0]) throw new Error(`Payment ${paymentId} is not in the database, or its writer has not committed yet`);
  return stateOf(rows[0]);
}
