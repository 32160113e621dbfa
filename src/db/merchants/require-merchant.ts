import type { Queryable } from '../connection/pool';
import { requireRow } from '../connection/require-row';

/** @throws NotFoundError if there is no such merchant */
export async function requireMerchant(db: Queryable, merchantId: string): Promise<void> {
  const { rows } = await db.query('select from merchants where id = $1', [merchantId]);
  requireRow(rows, 'merchant', merchantId);
}
