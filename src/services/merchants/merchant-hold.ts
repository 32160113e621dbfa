import type { Queryable } from '../../db/connection/pool';
import { withAudit } from '../audit/audit';
import { changeHold, type Merchant } from './merchants';
import type { OperatorContext } from '../payments/payment-actions';
import { performForEach, type ActionOutcome } from '../payments/perform-for-each';
import { wakeWorkflows } from '../payments/wake-workflows';

export type Cancellation = ActionOutcome<'cancelled'>;

/**
 * Stops the settlement of a merchant's payments. A payment whose settlement is due waits and needs attention.
 * @throws NotFoundError if there is no such merchant
 */
export function holdMerchant(
  { db, by }: Pick<OperatorContext, 'db' | 'by'>,
  merchantId: string,
  note: string,
): Promise<Merchant> {
  const action = { action: 'merchant.hold', target: merchantId, note } as const;
  return withAudit(db, by, action, () => changeHold(db, merchantId, true));
}

/** Cancels a merchant's pending payments at the provider, so that no customer pays them any more. */
export async function cancelPendingPayments(
  context: OperatorContext,
  merchantId: string,
  note: string,
): Promise<Cancellation[]> {
  const { rows } = await context.db.query<{ referenceId: string }>(
    `select reference_id as "referenceId" from payments where merchant_id = $1 and status = 'pending'
     order by created_at, id`,
    [merchantId],
  );
  const payments = rows.map(({ referenceId }) => referenceId);
  return performForEach(context, { action: 'cancel', done: 'cancelled', note }, payments);
}

/**
 * Ends a merchant's hold and wakes the workflows that wait for it. A workflow that misses the signal settles its
 * payment within an hour.
 * @throws NotFoundError if there is no such merchant
 */
export async function releaseMerchant(
  { db, workflows, by }: OperatorContext,
  merchantId: string,
  note: string,
): Promise<Merchant> {
  const action = { action: 'merchant.release', target: merchantId, note } as const;
  const merchant = await withAudit(db, by, action, () => changeHold(db, merchantId, false));
  await wakeWorkflows(workflows, await listDueForSettlement(db, merchantId));
  return merchant;
}

async function listDueForSettlement(db: Queryable, merchantId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    "select id from payments where merchant_id = $1 and status = 'paid' and settlement_due_at <= now()",
    [merchantId],
  );
  return rows.map(({ id }) => id);
}
