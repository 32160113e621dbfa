import type { Queryable } from '../connection/pool';

/* `open_balance_days`: sums of the counted lines of days that are not closed. */

const MAX_LINES = 20_000;

/**
 * Adds the lines after one posting, up to another, to the sums of their days. No transaction in flight may still commit
 * a line up to there. A day that is closed has its sums in `balance_days`.
 * @returns false: there are more, for the next time
 */
export async function countBalanceLines(client: Queryable, after: number, upTo: number): Promise<boolean> {
  if (after >= upTo) return true;
  const { rows: last } = await client.query<{ postingId: number }>(
    `select posting_id as "postingId" from balance_transactions where posting_id > $1 and posting_id <= $2
     order by posting_id offset ${MAX_LINES - 1} limit 1`,
    [after, upTo],
  );
  const end = last[0]?.postingId ?? upTo;
  await client.query(
    `insert into open_balance_days as open (merchant_id, day, credit_rupiah, debit_rupiah, line_count)
     select merchant_id, booked_on, coalesce(sum(amount_rupiah) filter (where amount_rupiah > 0), 0),
       coalesce(-sum(amount_rupiah) filter (where amount_rupiah < 0), 0), count(*)
     from balance_transactions
     where posting_id > $1 and posting_id <= $2
       and booked_on > coalesce((select max(day) from closed_days), '-infinity')
     group by merchant_id, booked_on
     on conflict (merchant_id, day) do update set credit_rupiah = open.credit_rupiah + excluded.credit_rupiah,
       debit_rupiah = open.debit_rupiah + excluded.debit_rupiah, line_count = open.line_count + excluded.line_count`,
    [after, end],
  );
  await client.query('update totals_progress set line_posting_id = $1', [end]);
  return end === upTo;
}

/**
 * The sums of a merchant's unclosed days by day, `unclosed (day, credit_rupiah, debit_rupiah, line_count)`, as two
 * common table expressions for a statement that has `closed (day)`. `$1` is the merchant. Counted lines come from their
 * sums, the few others from the end of the table. The upper bound is for the planner: it expects few rows of a range.
 */
export const UNCLOSED_DAYS = `
  uncounted as materialized (
    select merchant_id, booked_on, amount_rupiah from balance_transactions
    where posting_id > (select line_posting_id from totals_progress) and posting_id <= ${Number.MAX_SAFE_INTEGER}
  ),
  unclosed as materialized (
    select day, sum(credit_rupiah) as credit_rupiah, sum(debit_rupiah) as debit_rupiah, sum(line_count) as line_count
    from (
      select day, credit_rupiah, debit_rupiah, line_count from open_balance_days where merchant_id = $1
      union all
      select booked_on, greatest(amount_rupiah, 0), greatest(-amount_rupiah, 0), 1 from uncounted
      where merchant_id = $1
    ) line
    where day > coalesce((select day from closed), '-infinity')
    group by day
  )`;
