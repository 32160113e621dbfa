import type { PayoutTerms } from '../../domain/payout';
import type { PayoutStatus } from '../../domain/payout-transitions';
import type { Queryable } from '../connection/pool';
import type { Page } from '../operations/list-for-reconciliation';
import { readOpenPayouts } from './payouts-for-reconciliation';

/** A payout, and where it is. */
export interface LocatedPayout extends Pick<PayoutTerms, 'payoutId' | 'merchantId'> {
  readonly status: PayoutStatus;
}

/** Every open payout, in the order of their ids. */
export async function* listOpenPayouts(db: Queryable): AsyncGenerator<LocatedPayout> {
  let after: string | null = null;
  do {
    const page: Page<LocatedPayout> = await readOpenPayouts(db, after);
    yield* page.items;
    after = page.next;
  } while (after !== null);
}

/** The payouts among these that PostgreSQL has, by their id. */
export async function findPayoutStatuses(
  db: Queryable,
  payoutIds: readonly string[],
): Promise<ReadonlyMap<string, LocatedPayout>> {
  const { rows } = await db.query<LocatedPayout>({
    name: 'find_payout_statuses',
    text: `select id as "payoutId", merchant_id as "merchantId", status from payouts where id = any ($1::uuid[])`,
    values: [payoutIds],
  });
  return new Map(rows.map((payout) => [payout.payoutId, payout]));
}

/** Whether an operator has resolved the exception of this lost payout. Then it is not written again. */
export async function isLostForGood(db: Queryable, referenceId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'find_resolved_lost_payout',
    text: "select from exceptions where kind = 'lost_payout' and reference_id = $1 and resolved_at is not null",
    values: [referenceId],
  });
  return rowCount !== 0;
}
