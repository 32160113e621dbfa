import type { Queryable } from '../../db/connection/pool';
import { requireMerchant } from '../../db/merchants/require-merchant';
import type { Scope } from '../../domain/actor';
import { NotFoundError } from '../../errors';

/** A merchant whose keys and endpoints its members manage, if it has one. */
export interface ManagedMerchant {
  readonly merchantId: string;
  readonly hasMember: boolean;
}

/** @throws NotFoundError if the person reaches no such merchant */
export async function loadManagedMerchant(db: Queryable, scope: Scope, merchantId: string): Promise<ManagedMerchant> {
  if (scope !== 'all' && scope.merchantId !== merchantId) throw new NotFoundError('merchant', merchantId);
  await requireMerchant(db, merchantId);
  return { merchantId, hasMember: await hasMember(db, merchantId) };
}

/** Whether a person of the merchant signs in to the dashboard. Without one, an operator sets the merchant up alone. */
export async function hasMember(db: Queryable, merchantId: string): Promise<boolean> {
  const { rowCount } = await db.query('select from members where merchant_id = $1 and removed_at is null limit 1', [
    merchantId,
  ]);
  return rowCount === 1;
}
