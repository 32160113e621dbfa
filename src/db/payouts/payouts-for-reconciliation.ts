import type { PayoutTerms } from '../../domain/payout';
import { OPEN_PAYOUT_STATUSES, RESTING_PAYOUT_STATUSES } from '../../domain/payout-transitions';
import type { ReconciliationTimes, RecordedPayoutStatus } from '../../domain/reconciliation';
import type { Queryable } from '../connection/pool';
import { literalList } from '../connection/statement';
import { pageOf, RECONCILED_PAGE, type Page } from '../operations/list-for-reconciliation';

/* As for payments: keyset pages over the partial indexes of open and of resting payouts. */

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
/** The days in which the bank may report another end of a payout without a notification. */
const WATCHED_DAYS = 7;
/** Some banks report a return and correct it. What an operator resolved as returned is on the bank's statement. */
const IS_WATCHED = "(status in ('completed', 'failed') or status = 'returned' and not is_manual)";
/** A day of `timestamptz` in any time zone. */
const DAY = "interval '24 hours'";

/** A payout that is compared with its workflow, and with the bank by its workflow. */
export interface ReconciledPayout
  extends RecordedPayoutStatus, Pick<PayoutTerms, 'payoutId' | 'merchantId' | 'referenceId'> {}

const COLUMNS = `id as "payoutId", merchant_id as "merchantId", reference_id as "referenceId", status,
  updated_at as "updatedAt"`;

/** Open payouts, in the order of their ids. */
export async function readOpenPayouts(db: Queryable, after: string | null): Promise<Page<ReconciledPayout>> {
  const { rows } = await db.query<ReconciledPayout>({
    name: 'read_open_payouts',
    text: `select ${COLUMNS} from payouts
      where id > $1 and status in (${literalList(OPEN_PAYOUT_STATUSES)}) order by id limit ${RECONCILED_PAGE}`,
    values: [after ?? BEFORE_ALL],
  });
  return pageOf(rows, rows, ({ payoutId }) => payoutId);
}

/**
 * Resting payouts that changed since then, and those whose end the bank reported in the last week. Of the latter a run
 * reads those that ended a number of whole days before a time since the start of the last complete run. So each one is
 * read daily, however long the runs and their pages take.
 */
export async function readRestingPayouts(
  db: Queryable,
  { changedSinceMs, lastStartMs, startedAtMs }: ReconciliationTimes,
  after: string | null,
): Promise<Page<ReconciledPayout>> {
  const [updatedAt = '-infinity', id = BEFORE_ALL] = after?.split(' ') ?? [];
  const { rows } = await db.query<ReconciledPayout>({
    name: 'read_resting_payouts',
    text: `select ${COLUMNS} from payouts
      where (updated_at, id) > ($1, $2) and status in (${literalList(RESTING_PAYOUT_STATUSES)})
        and updated_at >= least($3, $4::timestamptz - ${WATCHED_DAYS} * ${DAY})
        and (updated_at >= $3 or (${IS_WATCHED} and exists (
          select from generate_series(1, ${WATCHED_DAYS}) days
          where updated_at + days * ${DAY} >= $4 and updated_at + days * ${DAY} < $5)))
      order by updated_at, id limit ${RECONCILED_PAGE}`,
    values: [updatedAt, id, ...[changedSinceMs, lastStartMs, startedAtMs].map((ms) => new Date(ms))],
  });
  return pageOf(rows, rows, (row) => `${row.updatedAt.toISOString()} ${row.payoutId}`);
}
