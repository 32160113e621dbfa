import type { Queryable } from '../../db/connection/pool';
import { listAllPayoutRows, type AllPayoutsFilter, type Payout } from '../../db/payouts/list-payouts';
import { listPayoutsNeedingAttention, type PayoutAttentionReason } from '../../db/payouts/payouts-needing-attention';

/** A payout as operators list it. */
export interface OperatorPayout extends Payout {
  /** Null: it needs no operator now. */
  readonly attentionReason: PayoutAttentionReason | null;
}

export interface OperatorPayoutFilter extends Omit<AllPayoutsFilter, 'ids'> {
  readonly needsAttention: boolean;
}

/** How many open payouts are compared with what an operator should look at. */
const MAX_NEEDING_ATTENTION = 1_000;

/** The payouts of all merchants, the newest first. */
export async function listAllPayouts(
  db: Queryable,
  { needsAttention, ...filter }: OperatorPayoutFilter,
): Promise<OperatorPayout[]> {
  const needing = await listPayoutsNeedingAttention(db, new Date(), MAX_NEEDING_ATTENTION);
  const reasons = new Map(needing.map(({ payoutId, reason }) => [payoutId, reason]));
  const payouts = await listAllPayoutRows(db, { ...filter, ids: needsAttention ? [...reasons.keys()] : null });
  return payouts.map((payout) => Object.assign(payout, { attentionReason: reasons.get(payout.id) ?? null }));
}
