import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { UNCLOSED_DAYS } from './open-balance-days';

/* Days are `YYYY-MM-DD`, in Western Indonesian Time (WIB). */

/**
 * Ends the days that are over by the clock of PostgreSQL, and before `today` by that of the caller: nothing is booked
 * on them any more. Settlements wait meanwhile.
 */
export async function endDays(db: Queryable, today: string): Promise<void> {
  await db.query({ name: 'end_days', text: 'select end_days($1)', values: [today] });
}

/** Closes the first day that has ended and is not closed: its sums are final. @returns the day; null: there is none */
export async function closeNextDay(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ day: string | null }>({
    name: 'close_next_day',
    text: 'select close_next_day()::text as day',
  });
  return onlyRow(rows).day;
}

/** The sums of a merchant's lines on one day. */
export interface DayTotals {
  readonly day: string;
  readonly creditRupiah: number;
  readonly debitRupiah: number;
  readonly lineCount: number;
}

/** Some days of a merchant's balance. */
export interface BalancePeriod {
  readonly openingRupiah: number;
  /** The days that have lines, in order. */
  readonly days: readonly DayTotals[];
  /** Null: no day is closed yet. */
  readonly lastClosedDay: string | null;
  /** The day on which a line is booked now. */
  readonly openDay: string;
}

/** The days from one day to another, both included: closed days from their sums, the others from their lines. */
export async function readBalancePeriod(
  db: Queryable,
  merchantId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<BalancePeriod> {
  const { rows } = await db.query<BalancePeriod>({
    name: 'read_balance_period',
    text: `with closed as (select max(day) as day from closed_days),
     ended as (select max(day) as day from ended_days),
     ${UNCLOSED_DAYS}
     select (
         coalesce((
           select closing_rupiah from balance_days where merchant_id = $1 and day < $2 order by day desc limit 1
         ), 0) + coalesce((select sum(credit_rupiah - debit_rupiah) from unclosed where day < $2), 0)
       )::bigint as "openingRupiah",
       (
         select coalesce(json_agg(json_build_object('day', day, 'creditRupiah', credit_rupiah,
           'debitRupiah', debit_rupiah, 'lineCount', line_count) order by day), '[]')
         from (
           select day, credit_rupiah, debit_rupiah, line_count from balance_days
           where merchant_id = $1 and day between $2 and $3
           union all
           select day, credit_rupiah, debit_rupiah, line_count from unclosed where day between $2 and $3
         ) found
       ) as days,
       closed.day::text as "lastClosedDay", greatest(booking_day(now()), ended.day + 1)::text as "openDay"
     from closed, ended`,
    values: [merchantId, from, to],
  });
  return onlyRow(rows);
}

/** The day on which the merchant began, or its first line if that is earlier. It has no statement before. */
export async function findFirstDay(db: Queryable, merchantId: string): Promise<string> {
  const { rows } = await db.query<{ day: string }>({
    name: 'find_first_day',
    text: `select least(booking_day(created_at), (select min(day) from balance_days where merchant_id = $1),
       (select min(day) from open_balance_days where merchant_id = $1))::text as day
     from merchants where id = $1`,
    values: [merchantId],
  });
  return onlyRow(rows).day;
}

/** What the lines from a day on begin with, and where they end, when the lines were last counted. */
export interface CountedLines {
  readonly openingRupiah: number;
  /** A closed day has all of its lines. Null: no day is closed yet. */
  readonly lastClosedDay: string | null;
  /** The last line of the other days. No transaction in flight can still commit one of them before it. */
  readonly countedPostingId: number;
}

export async function readCountedLines(db: Queryable, merchantId: string, from: string): Promise<CountedLines> {
  const { rows } = await db.query<CountedLines>({
    name: 'read_counted_lines',
    text: `select (
         coalesce((
           select closing_rupiah from balance_days where merchant_id = $1 and day < $2 order by day desc limit 1
         ), 0) + coalesce((
           select sum(credit_rupiah - debit_rupiah) from open_balance_days where merchant_id = $1 and day < $2
         ), 0)
       )::bigint as "openingRupiah", closed.day::text as "lastClosedDay", line_posting_id as "countedPostingId"
     from totals_progress, (select max(day) as day from closed_days) closed`,
    values: [merchantId, from],
  });
  return onlyRow(rows);
}
