import type { Queryable } from '../connection/pool';

/* What `lunas ledger verify` reads of the lines of balances. */

/** The available balance of a merchant, by the ledger or by its lines. */
export interface MerchantSum {
  readonly merchantId: string;
  readonly amountRupiah: number;
}

/** The sums of the lines of all postings up to this id, and of archived ones, which may have any id. */
export async function readLineSums(db: Queryable, upTo: number): Promise<MerchantSum[]> {
  const { rows } = await db.query<MerchantSum>(
    `select merchant_id as "merchantId", sum(amount_rupiah)::bigint as "amountRupiah"
     from balance_transactions line
     where posting_id <= $1 or exists (select from archived_payments where payment_id = line.payment_id)
     group by merchant_id`,
    [upTo],
  );
  return rows;
}

/** The sums of the entries of available balances that the archive has taken. */
export async function readArchivedSums(db: Queryable): Promise<MerchantSum[]> {
  const { rows } = await db.query<MerchantSum>(
    `select merchant_id as "merchantId", sum(credit_rupiah - debit_rupiah)::bigint as "amountRupiah"
     from ledger_closings where account = 'merchant_available' group by merchant_id`,
  );
  return rows;
}

/** A day whose sums are not those of its lines. Null: there is no such row, or no line. */
export interface DayDifference {
  readonly merchantId: string;
  readonly day: string;
  readonly recordedRupiah: number | null;
  readonly linesRupiah: number | null;
}

/** Compares the sums of the counted lines of days that are not closed with these lines. */
export async function findOpenDayDifferences(db: Queryable, limit: number): Promise<DayDifference[]> {
  const { rows } = await db.query<DayDifference>(
    `with closed as (select coalesce(max(day), '-infinity') as day from closed_days),
     recorded as (
       select merchant_id, day, line_count, credit_rupiah - debit_rupiah as change_rupiah
       from open_balance_days where day > (select day from closed)
     ), lines as (
       select merchant_id, booked_on as day, count(*) as line_count, sum(amount_rupiah)::bigint as change_rupiah
       from balance_transactions
       where booked_on > (select day from closed) and posting_id <= (select line_posting_id from totals_progress)
       group by merchant_id, booked_on
     )
     select merchant_id as "merchantId", day::text, recorded.change_rupiah as "recordedRupiah",
       lines.change_rupiah as "linesRupiah"
     from recorded full join lines using (merchant_id, day)
     where (recorded.change_rupiah, recorded.line_count) is distinct from (lines.change_rupiah, lines.line_count)
     order by day, merchant_id limit $1`,
    [limit],
  );
  return rows;
}

/**
 * Compares the closings of the days that were closed after this time with the lines. It reads the lines of these days
 * only, merchant by merchant: the close itself reads the sums of counted lines, and not the lines.
 */
export async function findNewlyClosedDayDifferences(
  db: Queryable,
  since: Date,
  limit: number,
): Promise<DayDifference[]> {
  const { rows } = await db.query<DayDifference>(
    `select merchant.id as "merchantId", closed.day::text, recorded.change_rupiah as "recordedRupiah",
       lines.change_rupiah as "linesRupiah"
     from closed_days closed cross join merchants merchant
     cross join lateral (
       select count(*) as line_count, sum(amount_rupiah)::bigint as change_rupiah
       from balance_transactions where merchant_id = merchant.id and booked_on = closed.day
     ) lines
     left join lateral (
       select line_count, credit_rupiah - debit_rupiah as sums_rupiah, closing_rupiah - coalesce((
         select closing_rupiah from balance_days earlier
         where earlier.merchant_id = merchant.id and earlier.day < closed.day order by earlier.day desc limit 1
       ), 0) as change_rupiah
       from balance_days where balance_days.merchant_id = merchant.id and balance_days.day = closed.day
     ) recorded on true
     where closed_at > $1
       and (recorded.change_rupiah, recorded.sums_rupiah, coalesce(recorded.line_count, 0))
         is distinct from (lines.change_rupiah, lines.change_rupiah, lines.line_count)
     order by closed.day, merchant.id limit $2`,
    [since, limit],
  );
  return rows;
}

/** Compares the closings of all closed days with the lines. */
export async function findClosedDayDifferences(db: Queryable, limit: number): Promise<DayDifference[]> {
  const { rows } = await db.query<DayDifference>(
    `with recorded as (
       select merchant_id, day, line_count, credit_rupiah - debit_rupiah as sums_rupiah,
         closing_rupiah - lag(closing_rupiah, 1, 0::bigint) over merchant as change_rupiah
       from balance_days window merchant as (partition by merchant_id order by day)
     ), lines as (
       select merchant_id, booked_on as day, count(*) as line_count, sum(amount_rupiah)::bigint as change_rupiah
       from balance_transactions where booked_on <= (select max(day) from closed_days)
       group by merchant_id, booked_on
     )
     select merchant_id as "merchantId", day::text, recorded.change_rupiah as "recordedRupiah",
       lines.change_rupiah as "linesRupiah"
     from recorded full join lines using (merchant_id, day)
     where (recorded.change_rupiah, recorded.sums_rupiah, recorded.line_count)
       is distinct from (lines.change_rupiah, lines.change_rupiah, lines.line_count)
     order by day, merchant_id limit $1`,
    [limit],
  );
  return rows;
}
