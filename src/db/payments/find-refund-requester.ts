import type { RefundRequester } from '../../domain/refund';
import type { Queryable } from '../connection/pool';

/** Who requested a refund of a payment from the provider; undefined if there is no such refund. */
export async function findRefundRequester(
  db: Queryable,
  paymentId: string,
  refundNumber: number,
): Promise<RefundRequester | undefined> {
  const { rows } = await db.query<{ requestedBy: RefundRequester }>({
    name: 'find_refund_requester',
    text: 'select requested_by as "requestedBy" from refunds where payment_id = $1 and number = $2',
    values: [paymentId, refundNumber],
  });
  return rows[0]?.requestedBy;
}
