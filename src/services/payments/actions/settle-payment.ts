import type { Queryable } from '../../../db/connection/pool';
import { IS_SETTLEMENT_DUE } from '../../../db/operations/overdue-payments';
import { Operation } from '../../operations/operation';
import { approvedBy, operatorAction } from './operator-action';

/** Settles a payment with manual settlement whose delay is over. */
export const settlePayment = new Operation({
  name: 'payment.settle',
  operator: 'settle',
  ...operatorAction('settle'),
  ...approvedBy('settle'),
});

/** References of a merchant's payments with manual settlement whose settlement delay was over by then, oldest first. */
export async function listSettleable(db: Queryable, merchantId: string, until: Date): Promise<string[]> {
  const { rows } = await db.query<{ referenceId: string }>(
    `select reference_id as "referenceId" from payments
     where merchant_id = $1 and ${IS_SETTLEMENT_DUE} and settlement_due_at <= $2
     order by settlement_due_at, id`,
    [merchantId, until],
  );
  return rows.map(({ referenceId }) => referenceId);
}
