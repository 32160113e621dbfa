import type { Queryable } from '../../db/connection/pool';
import { readBalancePeriod, readCountedLines, type BalancePeriod, type DayTotals } from '../../db/ledger/balance-days';
import {
  listBalanceTransactions,
  type BalanceTransaction,
  type LinePosition,
} from '../../db/ledger/balance-transactions';
import { formatInWib, lastDayOf } from '../../domain/wib';
import { csvCells, toCsv, type CsvColumns } from '../../lib/csv';

export { findFirstDay as findFirstBalanceDay } from '../../db/ledger/balance-days';

/* Each function reads one merchant. Days are `YYYY-MM-DD` and months `YYYY-MM`, in Western Indonesian Time (WIB). */

/** One day of a merchant's balance. */
export interface BalanceDay extends DayTotals {
  readonly openingRupiah: number;
  readonly closingRupiah: number;
  /** Nothing of a closed day changes any more. */
  readonly isClosed: boolean;
}

/** The days of a month that have lines, and the open day if it is in this month. */
export async function listBalanceDays(db: Queryable, merchantId: string, month: string): Promise<BalanceDay[]> {
  return (await getPeriodStatement(db, merchantId, { from: `${month}-01`, to: lastDayOf(month) })).days;
}

/** From one day to another, both included. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** A year, also a leap year. */
export const MAX_STATEMENT_DAYS = 366;

/** The balance of a period: its opening, what came in and went out, its closing, and the same of each day. */
export interface PeriodStatement extends Omit<BalanceDay, 'day'> {
  /** The days that have lines, and the open day if it is one of the period. */
  readonly days: BalanceDay[];
  /** The day on which a line is booked now. */
  readonly openDay: string;
}

/** The statement of a period. While one of its days is not closed, it is provisional. */
export async function getPeriodStatement(
  db: Queryable,
  merchantId: string,
  { from, to }: Period,
): Promise<PeriodStatement> {
  const period = await readBalancePeriod(db, merchantId, { from, to });
  const { openDay } = period;
  const totals = [...period.days];
  if (from <= openDay && openDay <= to && totals.at(-1)?.day !== openDay) totals.push(emptyDay(openDay));
  let { openingRupiah } = period;
  const days = totals.map((ofDay) => {
    const balanceDay = toBalanceDay(ofDay, openingRupiah, period);
    openingRupiah = balanceDay.closingRupiah;
    return balanceDay;
  });
  const sum = (valueOf: (day: DayTotals) => number) => days.reduce((total, day) => total + valueOf(day), 0);
  const ofPeriod = {
    day: to,
    creditRupiah: sum(({ creditRupiah }) => creditRupiah),
    debitRupiah: sum(({ debitRupiah }) => debitRupiah),
    lineCount: sum(({ lineCount }) => lineCount),
  };
  const { day: _, ...sums } = toBalanceDay(ofPeriod, period.openingRupiah, period);
  return { ...sums, days, openDay };
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
  const cursor = after ?? beginningOf(day, period);
  const lines = await readLines(db, merchantId, { cursor, to: day, upToPostingId: ALL_LINES, limit });
  const last = lines.at(-1);
  const { openDay } = period;
  return { ...balanceDay, lines, openDay, next: lines.length === limit && last ? last : null };
}

/** Greater than each posting. */
const ALL_LINES = Number.MAX_SAFE_INTEGER;

function beginningOf(day: string, { openingRupiah }: Pick<BalancePeriod, 'openingRupiah'>): StatementCursor {
  return { bookedOn: day, postingId: 0, balanceAfterRupiah: openingRupiah };
}

/** Lines of days that follow each other, from that of the cursor on. */
interface LineRange {
  readonly cursor: StatementCursor;
  readonly to: string;
  readonly upToPostingId: number;
  readonly limit: number;
}

async function readLines(
  db: Queryable,
  merchantId: string,
  { cursor, to, upToPostingId, limit }: LineRange,
): Promise<StatementLine[]> {
  const page = { after: cursor, to, upToPostingId, limit };
  const lines = await listBalanceTransactions(db, merchantId, page);
  const withBalances: StatementLine[] = [];
  let { balanceAfterRupiah } = cursor;
  for (const line of lines) {
    balanceAfterRupiah += line.amountRupiah;
    withBalances.push({ ...line, balanceAfterRupiah });
  }
  return withBalances;
}

/** All lines of a period, page by page. */
export interface StatementExport {
  readonly openingRupiah: number;
  /** False: more lines can follow, and `state` is `provisional` in each line of a day that is not closed. */
  readonly isClosed: boolean;
  /** At most `limit` lines after the given one; null: the first lines. None: the end. */
  readonly readPage: (after: StatementLine | null, limit: number) => Promise<readonly ExportedLine[]>;
}

/** A line of a file. */
export interface ExportedLine extends StatementLine {
  readonly isClosed: boolean;
}

/**
 * Opening and lines of a period for a file, as of one time: a line that is committed while the file is written is not
 * in it. Of days that are not closed, that is when the lines were last counted, some seconds ago. Each page is a short
 * statement of its own, or two where closed days end.
 */
export async function openStatementExport(
  db: Queryable,
  merchantId: string,
  { from, to }: Period,
): Promise<StatementExport> {
  const { openingRupiah, lastClosedDay, countedPostingId } = await readCountedLines(db, merchantId, from);
  const isClosed = (day: string) => lastClosedDay !== null && day <= lastClosedDay;
  const read = async (cursor: StatementCursor, limit: number): Promise<readonly StatementLine[]> => {
    const open = { to, upToPostingId: countedPostingId };
    if (!isClosed(cursor.bookedOn)) return readLines(db, merchantId, { cursor, ...open, limit });
    const last = lastClosedDay !== null && lastClosedDay < to ? lastClosedDay : to;
    const lines = await readLines(db, merchantId, { cursor, to: last, upToPostingId: ALL_LINES, limit });
    if (lines.length === limit || last === to) return lines;
    // The lines of closed days end here: the next ones are those of the other days.
    const { balanceAfterRupiah } = lines.at(-1) ?? cursor;
    const next = { bookedOn: last, postingId: ALL_LINES, balanceAfterRupiah };
    const others = await readLines(db, merchantId, { cursor: next, ...open, limit: limit - lines.length });
    return [...lines, ...others];
  };
  return {
    openingRupiah,
    isClosed: isClosed(to),
    readPage: async (after, limit) => {
      const lines = await read(after ?? beginningOf(from, { openingRupiah }), limit);
      return lines.map((line) => Object.assign(line, { isClosed: isClosed(line.bookedOn) }));
    },
  };
}

/** What lists and files show of a day. */
export function dayStateOf({ isClosed }: Pick<BalanceDay, 'isClosed'>): 'closed' | 'provisional' {
  return isClosed ? 'closed' : 'provisional';
}

/** What stands before the first and after the last line of a period. The sum of the amounts is what changed between. */
export interface StatementEdge {
  readonly kind: 'opening' | 'closing';
  readonly bookedOn: string;
  readonly occurredAt: null;
  readonly referenceId: null;
  readonly merchantReferenceId: null;
  readonly amountRupiah: null;
  readonly balanceAfterRupiah: number;
  /** Null: the opening, which has no state. */
  readonly isClosed: boolean | null;
}

/** The columns of a statement as CSV. Amounts are rupiah, times have the offset of WIB. */
export const STATEMENT_CSV_COLUMNS: CsvColumns<ExportedLine | StatementEdge> = {
  booked_on: ({ bookedOn }) => bookedOn,
  occurred_at: ({ occurredAt }) => occurredAt && formatInWib(occurredAt),
  kind: ({ kind }) => kind,
  reference: ({ referenceId }) => referenceId,
  merchant_reference_id: ({ merchantReferenceId }) => merchantReferenceId,
  amount: ({ amountRupiah }) => amountRupiah,
  balance_after: ({ balanceAfterRupiah }) => balanceAfterRupiah,
  state: ({ isClosed }) => (isClosed === null ? null : dayStateOf({ isClosed })),
};

const CSV_PAGE_LINES = 1_000;

/**
 * The lines of a day as CSV. It has a byte order mark for spreadsheets, and a text that a spreadsheet would compute
 * begins with an apostrophe.
 */
export async function* streamStatementCsv(db: Queryable, merchantId: string, day: string): AsyncGenerator<string> {
  yield toCsv([Object.keys(STATEMENT_CSV_COLUMNS)], { bom: true });
  const { readPage } = await openStatementExport(db, merchantId, { from: day, to: day });
  let lines = await readPage(null, CSV_PAGE_LINES);
  for (let last = lines.at(-1); last !== undefined; last = lines.at(-1)) {
    yield toCsv(lines.map((line) => csvCells(STATEMENT_CSV_COLUMNS, line)));
    lines = await readPage(last, CSV_PAGE_LINES);
  }
}
