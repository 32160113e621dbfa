import { messageOf, UserError } from '../errors';
import type { Queryable } from '../db/pool';
import { forEachConcurrent } from '../temporal/for-each-concurrent';
import { performPaymentAction, type OperatorContext } from './payment-actions';

/** `indeterminate`: it is not known whether it was settled; to settle it again is safe. */
export interface Settlement {
  readonly payment: string;
  readonly outcome: 'settled' | 'rejected' | 'indeterminate';
  /** Why it was not, or may not have been. */
  readonly reason: string | null;
}

/** Updates that are with Temporal at the same time. */
const CONCURRENCY = 8;

/**
 * Settles each of these payments, side by side within a bound. One that is refused does not hold up the others.
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
    await performPaymentAction(context, 'payment.settle', payment, note);
    return { payment, outcome: 'settled', reason: null };
  } catch (error) {
    const outcome = error instanceof UserError ? 'rejected' : 'indeterminate';
    return { payment, outcome, reason: messageOf(error) };
  }
}

/** The references of a merchant's payments that wait for an operator and whose settlement delay was over by then, oldest first. */
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
