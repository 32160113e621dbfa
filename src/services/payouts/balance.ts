import type { Queryable } from '../../db/connection/pool';
import { readBalancePeriod, type BalancePeriod, type DayTotals } from '../../db/records/balance-days';
import {
  listBalanceTransactions,
  listNewestBalanceTransactions,
  type BalanceTransaction,
  type LinePosition,
} from '../../db/records/balance-transactions';
import { formatInWib } from '../../domain/wib';
import { toCsv } from '../../lib/csv';

/* Each function reads one merchant. Days are `YYYY-MM-DD` and months `YYYY-MM`, in Western Indonesian Time (WIB). */

/** The newest changes of the available balance, the newest first. */
export function listNewestLines(db: Queryable, merchantId: string, limit: number): Promise<BalanceTransaction[]> {
  return listNewestBalanceTransactions(db, merchantId, limit);
}

/** One day of a merchant's balance. */
export interface BalanceDay extends DayTotals {
  readonly openingRupiah: number;
  readonly closingRupiah: number;
  /** Nothing of a closed day changes any more. */
  readonly isClosed: boolean;
}

/** The days of a month that have lines, and the open day if it is in this month. */
export async function listBalanceDays(db: Queryable, merchantId: string, month: string): Promise<BalanceDay[]> {
  const period = await readBalancePeriod(db, merchantId, { from: `${month}-01`, to: lastDayOf(month) });
  const days = [...period.days];
  if (period.openDay.startsWith(month) && days.at(-1)?.day !== period.openDay) days.push(emptyDay(period.openDay));
  let openingRupiah = period.openingRupiah;
  return days.map((totals) => {
    const balanceDay = toBalanceDay(totals, openingRupiah, period);
    openingRupiah = balanceDay.closingRupiah;
    return balanceDay;
  });
}

function lastDayOf(month: string): string {
  const last = new Date(`${month}-01T00:00:00Z`);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return last.toISOString().slice(0, 'YYYY-MM-DD'.length);
}

function emptyDay(day: string): DayTotals {
  return { day, creditRupiah: 0, debitRupiah: 0, lineCount: 0 };
}

function toBalanceDay(totals: DayTotals, openingRupiah: number, { lastClosedDay }: BalancePeriod): BalanceDay {
  const closingRupiah = openingRupiah + totals.creditRupiah - totals.debitRupiah;
  return { ...totals, openingRupiah, closingRupiah, isClosed: lastClosedDay !== null && totals.day <= lastClosedDay };
}

export interface StatementLine extends BalanceTransaction {
  readonly balanceAfterRupiah: number;
}

/** The position of a line in a statement, with the balance after it: the next page adds to that. */
export interface StatementCursor extends LinePosition {
  readonly balanceAfterRupiah: number;
}

/** The statement of one day: its opening, some of its lines in order, and its closing. */
export interface BalanceStatement extends BalanceDay {
  readonly lines: readonly StatementLine[];
  /** The day on which a line is booked now: no later day has a statement. */
  readonly openDay: string;
  /** The cursor of the next page; null if there is none. */
  readonly next: StatementCursor | null;
}

interface StatementPage {
  readonly limit: number;
  /** Absent: the page begins with the first line. */
  readonly after?: StatementCursor;
}

/** The statement of a day. While the day is not closed, it is provisional. */
export async function getStatement(
  db: Queryable,
  merchantId: string,
  day: string,
  { limit, after }: StatementPage,
): Promise<BalanceStatement> {
  const period = await readBalancePeriod(db, merchantId, { from: day, to: day });
  const balanceDay = toBalanceDay(period.days[0] ?? emptyDay(day), period.openingRupiah, period);
  const lines = await readLines(db, merchantId, { cursor: after ?? beginningOf(day, period), to: day, limit });
  const last = lines.at(-1);
  const { openDay } = period;
  return { ...balanceDay, lines, openDay, next: lines.length === limit && last ? last : null };
}

function beginningOf(day: string, { openingRupiah }: BalancePeriod): StatementCursor {
  return { bookedOn: day, postingId: 0, balanceAfterRupiah: openingRupiah };
}

interface LineRange {
  readonly cursor: StatementCursor;
  readonly to: string;
  readonly limit: number;
}

async function readLines(
  db: Queryable,
  merchantId: string,
  { cursor, to, limit }: LineRange,
): Promise<StatementLine[]> {
  const lines = await listBalanceTransactions(db, merchantId, { after: cursor, to, limit });
  const withBalances: StatementLine[] = [];
  let { balanceAfterRupiah } = cursor;
  for (const line of lines) {
    balanceAfterRupiah += line.amountRupiah;
    withBalances.push({ ...line, balanceAfterRupiah });
  }
  return withBalances;
}

const CSV_PAGE_LINES = 1_000;

/** The columns of a statement as CSV, in this order. Amounts are rupiah, times have the offset of WIB. */
const CSV_COLUMNS = {
  booked_on: ({ bookedOn }) => bookedOn,
  occurred_at: ({ occurredAt }) => formatInWib(occurredAt),
  kind: ({ kind }) => kind,
  reference: ({ referenceId }) => referenceId,
  merchant_reference_id: ({ merchantReferenceId }) => merchantReferenceId,
  amount: ({ amountRupiah }) => amountRupiah,
  balance_after: ({ balanceAfterRupiah }) => balanceAfterRupiah,
} as const satisfies Record<string, (line: StatementLine) => string | number | null>;

export const STATEMENT_CSV_COLUMNS: readonly string[] = Object.keys(CSV_COLUMNS);

/** The cells of a line, in the order of the columns. */
export function statementCells(line: StatementLine): (string | number | null)[] {
  return Object.values(CSV_COLUMNS).map((valueOf) => valueOf(line));
}

/**
 * The lines of some days as CSV, from one day to another, both included. It has a byte order mark for spreadsheets, and
 * a text that a spreadsheet would compute begins with an apostrophe. Each page is a short statement of its own.
 */
export async function* streamStatementCsv(
  db: Queryable,
  merchantId: string,
  { from, to }: { readonly from: string; readonly to: string },
): AsyncGenerator<string> {
  yield toCsv([STATEMENT_CSV_COLUMNS], { bom: true });
  const period = await readBalancePeriod(db, merchantId, { from, to: from });
  for (let cursor: StatementCursor | undefined = beginningOf(from, period); cursor;) {
    const lines: StatementLine[] = await readLines(db, merchantId, { cursor, to, limit: CSV_PAGE_LINES });
    if (lines.length > 0) yield toCsv(lines.map(statementCells));
    cursor = lines.length === CSV_PAGE_LINES ? lines.at(-1) : undefined;
  }
}
