import { messageOf, UserError } from '../errors';
import type { Queryable } from '../db/pool';
import { forEachConcurrent } from '../temporal/for-each-concurrent';
import { performPaymentAction, type OperatorContext } from './payment-actions';

/** `indeterminate`: the payment may be settled; to settle it again is safe. */
export interface Settlement {
  readonly payment: string;
  readonly outcome: 'settled' | 'rejected' | 'indeterminate';
  /** Null if it was settled. */
  readonly reason: string | null;
}

/** Updates in flight at Temporal. */
const CONCURRENCY = 8;

/**
 * Settles these payments with bounded concurrency. A rejected payment does not stop the others.
 * @param payments ids or references
 */
export async function settlePayments(
  context: OperatorContext,
  payments: readonly string[],
  note?: string,
): Promise<Settlement[]> {
  const settlements: Settlement[] = [];
  await forEachConcurrent(payments.entries(), CONCURRENCY, async ([index, payment]) => {
    settlements[index] = await settle(context, payment, note);
  });
  return settlements;
}

async function settle(context: OperatorContext, payment: string, note?: string): Promise<Settlement> {
  try {
    await performPaymentAction(context, 'settle', payment, note);
    return { payment, outcome: 'settled', reason: null };
  } catch (error) {
    const outcome = error instanceof UserError ? 'rejected' : 'indeterminate';
    return { payment, outcome, reason: messageOf(error) };
  }
}

/** References of a merchant's payments with manual settlement whose settlement delay was over by then, oldest first. */
export async function listSettleable(db: Queryable, merchantId: string, until: Date): Promise<string[]> {
  const { rows } = await db.query<{ referenceId: string }>(
    `select reference_id as "referenceId" from payments
     where merchant_id = $1 and status = 'paid' and settlement_kind = 'manual'
       and settlement_due_at <= least($2::timestamptz, now())
     order by settlement_due_at, id`,
    [merchantId, until],
  );
  return rows.map(({ referenceId }) => referenceId);
}
