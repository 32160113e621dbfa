import type { Queryable } from '../../db/connection/pool';
import type { OperatorActor } from '../../domain/actor';
import type { PaymentActionDependencies } from './payment-actions';
import { performForEach, type ActionOutcome } from './perform-for-each';

export type Settlement = ActionOutcome<'settled'>;

/**
 * Settles these payments with bounded concurrency. A rejected payment does not stop the others.
 * @param payments ids or references
 */
export function settlePayments(
  dependencies: PaymentActionDependencies,
  actor: OperatorActor,
  payments: readonly string[],
  note?: string,
): Promise<Settlement[]> {
  return performForEach(dependencies, actor, { action: 'settle', done: 'settled', note }, payments);
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
