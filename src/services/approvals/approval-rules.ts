import type { Queryable } from '../../db/connection/pool';

/** What one operator may do alone in production. Amounts are in rupiah; null: no limit. */
export interface ApprovalRule {
  readonly id: number;
  /** The name in the audit log. */
  readonly action: string;
  /** The limit of one act. 0: each needs a second operator. */
  readonly itemRupiah: number | null;
  /** The limit of all acts of one operator in 24 hours. */
  readonly operatorDayRupiah: number | null;
  /** The limit of all acts of single operators for one merchant in 24 hours. */
  readonly merchantDayRupiah: number | null;
  /** How many acts one operator performs alone in 24 hours. */
  readonly operatorDayCount: number | null;
}

/** The rules in force, by action. An action without a rule always needs a second operator, or never. */
export async function listApprovalRules(db: Queryable): Promise<ApprovalRule[]> {
  const { rows } = await db.query<ApprovalRule>(
    `select distinct on (action) id, action, item_rupiah as "itemRupiah", operator_day_rupiah as "operatorDayRupiah",
       merchant_day_rupiah as "merchantDayRupiah", operator_day_count as "operatorDayCount"
     from approval_rules order by action, id desc`,
  );
  return rows;
}
