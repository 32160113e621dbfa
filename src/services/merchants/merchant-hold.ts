import type { Queryable } from '../../db/connection/pool';
import type { OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { cancelPayment } from '../payments/actions/cancel-payment';
import type { PaymentActionDependencies } from '../payments/actions/operator-action';
import { performForEach, type ActionOutcome } from '../payments/actions/perform-action';
import { wakeWorkflows } from '../payments/wake-workflows';
import { changeHold, type Merchant } from './merchants';

export type Cancellation = ActionOutcome<'cancelled'>;

export const HOLD_MERCHANT = new DeclaredAction('merchant.hold');

/**
 * Stops the settlement of a merchant's payments. A payment whose settlement is due waits and needs attention.
 * @throws NotFoundError if there is no such merchant
 */
export function holdMerchant(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  merchantId: string,
  note: string,
): Promise<Merchant> {
  const action = { action: HOLD_MERCHANT, target: merchantId, note } as const;
  return withAudit(dependencies, actor, action, () => changeHold(dependencies.db, merchantId, true));
}

/** Cancels a merchant's pending payments at the provider, so that no customer pays them any more. */
export async function cancelPendingPayments(
  dependencies: PaymentActionDependencies,
  actor: OperatorActor,
  merchantId: string,
  note: string,
): Promise<Cancellation[]> {
  const { rows } = await dependencies.db.query<{ referenceId: string }>(
    `select reference_id as "referenceId" from payments where merchant_id = $1 and status = 'pending'
     order by created_at, id`,
    [merchantId],
  );
  const payments = rows.map(({ referenceId }) => referenceId);
  return performForEach(dependencies, actor, { operation: cancelPayment, done: 'cancelled', note }, payments);
}

export const RELEASE_MERCHANT = new DeclaredAction('merchant.release');

/**
 * Ends a merchant's hold and wakes the workflows that wait for it. A workflow that misses the signal settles its
 * payment within an hour.
 * @throws NotFoundError if there is no such merchant
 */
export async function releaseMerchant(
  dependencies: PaymentActionDependencies,
  actor: OperatorActor,
  merchantId: string,
  note: string,
): Promise<Merchant> {
  const { db, workflows } = dependencies;
  const action = { action: RELEASE_MERCHANT, target: merchantId, note } as const;
  const merchant = await withAudit(dependencies, actor, action, () => changeHold(db, merchantId, false));
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
