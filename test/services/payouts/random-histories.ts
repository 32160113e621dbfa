import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
  type Arbitrary,
} from 'fast-check';
import { getBalance } from '../../../src/db/ledger/get-balance';
import { countTotals } from '../../../src/db/ledger/payment-totals';
import type { LedgerAccount } from '../../../src/domain/ledger';
import { removeArchived } from '../../../src/services/archive/remove-archived';
import { writeArchive } from '../../../src/services/archive/write-archive';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import {
  getPeriodStatement,
  getStatement,
  listBalanceDays,
  openStatementExport,
  streamStatementCsv,
  type BalanceDay,
  type ExportedLine,
  type StatementLine,
} from '../../../src/services/payouts/balance';
import { backdatePayments } from '../../support/backdate';
import { closeDaysUntil, countLines } from '../../support/close-days';
import { issueNow } from '../../support/invoices';
import {
  applyPayout,
  createTestPayouts,
  FEE_RUPIAH,
  ofPayments,
  withNewMerchant,
  type TestPayouts,
} from '../../support/payouts';
import { applyTransitions, T0 } from '../ledger/transition-path';

const SETTLED = ['issue', 'pay', 'settle'] as const;
const REFUNDED = ['issue', 'pay', 'request_refund', 'submit_refund', 'confirm_refund'] as const;

let ledger: TestPayouts;
let openDay: string;
const FLAT_FEE = { source: 'catalog', class: null, basisPoints: 0, validFrom: null } as const;

/** Closes all days up to this one. @returns the open day */
async function closeUntil(day: string): Promise<string> {
  await closeDaysUntil(ledger.db, day);
  const { rows } = await ledger.db.query<{ day: string }>('select (max(day) + 1)::text as day from closed_days');
  return rows[0]?.day ?? '';
}

/** The transitions of a payout, with what each but the request adds to the balance, by its amount and its fee. */
const PAYOUTS = [
  { path: [], adds: [] },
  { path: ['cancel_request'], adds: ['gross'] },
  { path: ['approve', 'cancel'], adds: ['gross'] },
  { path: ['approve', 'submit', 'complete'], adds: [] },
  { path: ['approve', 'submit', 'resend', 'fail'], adds: ['gross'] },
  { path: ['approve', 'submit', 'complete', 'return'], adds: ['amount'] },
  { path: ['approve', 'submit', 'fail', 'complete_failed'], adds: ['gross', 'debt'] },
] as const;
const SMALLEST_PAYOUT_RUPIAH = 10_000 + FEE_RUPIAH;

type HistoryEvent =
  | { readonly name: 'settle' | 'refund'; readonly netRupiah: number; readonly feeRupiah: number; readonly vat: number }
  | { readonly name: 'payout'; readonly index: number }
  | { readonly name: 'credit'; readonly percent: number }
  | { readonly name: 'close' }
  | { readonly name: 'count' };

const amounts = {
  netRupiah: integer({ min: 1, max: 9_000_000 }),
  feeRupiah: integer({ min: 0, max: 900_000 }),
  /** Basis points of VAT that the fee includes. */
  vat: constantFrom(0, 1_100, 1_200),
};
const anyEvent: Arbitrary<HistoryEvent> = oneof(
  record({ name: constant('settle' as const), ...amounts }),
  record({ name: constant('refund' as const), ...amounts }),
  record({ name: constant('payout' as const), index: integer({ min: 0, max: PAYOUTS.length - 1 }) }),
  record({ name: constant('credit' as const), percent: integer({ min: 1, max: 100 }) }),
  record({ name: constant('close' as const) }),
  record({ name: constant('count' as const) }),
);

/** What the balance must be, written without the product. */
interface Expected {
  readonly merchantId: string;
  readonly lines: { readonly day: string; readonly amountRupiah: number }[];
  /** The fees of its payments, without credit notes. */
  readonly invoiced: { merchantId: string; payments: number; feeRupiah: number; vatRupiah: number };
}

async function run(history: readonly HistoryEvent[]): Promise<Expected> {
  const merchant = await withNewMerchant(ledger);
  const { merchantId } = merchant;
  const lines: Expected['lines'] = [];
  const invoiced = { merchantId, payments: 0, feeRupiah: 0, vatRupiah: 0 };
  for (const event of history) {
    if (event.name === 'count') {
      await countTotals(ledger.db);
      continue;
    }
    if (event.name === 'close') {
      openDay = await closeUntil(`'${openDay}'`);
      continue;
    }
    if (event.name === 'payout') {
      const added = await payOut(merchant, event.index, sumOf(lines));
      lines.push(...added.map((amountRupiah) => ({ day: openDay, amountRupiah })));
      continue;
    }
    if (event.name === 'credit') {
      const amountRupiah = await creditInvoice(merchantId, event.percent);
      if (amountRupiah > 0) lines.push({ day: openDay, amountRupiah });
      continue;
    }
    const { netRupiah, feeRupiah, vat } = event;
    const totalRupiah = netRupiah + feeRupiah;
    const vatRupiah = Math.floor((feeRupiah * vat) / (10_000 + vat));
    const rupiah = { netRupiah, feeRupiah, vatRupiah, totalRupiah, amountRupiah: totalRupiah };
    const terms = { merchantId, ...rupiah, feeTerms: { ...FLAT_FEE, flatRupiah: feeRupiah, vatBasisPoints: vat } };
    await applyTransitions(ofPayments(ledger), event.name === 'settle' ? SETTLED : REFUNDED, terms);
    const amountRupiah = event.name === 'settle' ? netRupiah : -feeRupiah;
    if (amountRupiah !== 0) lines.push({ day: openDay, amountRupiah });
    invoiced.payments += 1;
    invoiced.feeRupiah += feeRupiah;
    invoiced.vatRupiah += vatRupiah;
  }
  return { merchantId, lines, invoiced };
}

/** Issues what was booked, and gives back a part of what the newest invoice has left. @returns what is given back */
async function creditInvoice(merchantId: string, percent: number): Promise<number> {
  const all = (await issueNow(ledger.db, ledger.masterKey)).filter((one) => one.merchantId === merchantId);
  const invoice = all.find(({ kind }) => kind === 'invoice');
  if (!invoice) return 0;
  const parts = all.filter(({ number, corrects }) => number === invoice.number || corrects === invoice.number);
  const left = parts.reduce((sum, { feeRupiah }) => sum + feeRupiah, 0);
  const leftVat = parts.reduce((sum, { vatRupiah }) => sum + vatRupiah, 0);
  const feeRupiah = Math.ceil((left * percent) / 100);
  // Returned fees of payouts, which have no VAT, can leave less than the VAT.
  if (feeRupiah < 1 || left < leftVat) return 0;
  const vatRupiah = Math.max(Math.floor((leftVat * percent) / 100), feeRupiah - (left - leftVat));
  await ledger.db.query(
    `select book_adjustment(gen_random_uuid(), $1, $2, $3, 'history', 'operator', gen_random_uuid(), 'sealed')`,
    [invoice.number, feeRupiah, vatRupiah],
  );
  return feeRupiah;
}

/** The lines of invoices have each payment once, with the fee and VAT that it captured. */
async function expectInvoices(all: readonly Expected[]): Promise<void> {
  const { rows } = await ledger.db.query(
    `select merchant_id as "merchantId", sum((line ->> 'count')::bigint)::bigint as payments,
       sum((line ->> 'feeRupiah')::bigint)::bigint as "feeRupiah",
       sum((line ->> 'vatRupiah')::bigint)::bigint as "vatRupiah"
     from fee_invoices, jsonb_array_elements(lines) line where line ->> 'kind' = 'payment'
     group by merchant_id order by merchant_id`,
  );
  const expected = all.filter(({ invoiced }) => invoiced.payments > 0);
  const byId = expected.toSorted((left, right) => (left.merchantId < right.merchantId ? -1 : 1));
  expect(rows).toEqual(byId.map(({ invoiced }) => invoiced));
}

/** Pays the whole balance, which a payout below the minimum cannot. @returns the lines that it adds */
async function payOut(merchant: TestPayouts, index: number, grossRupiah: number): Promise<number[]> {
  const payout = PAYOUTS[index];
  if (!payout || grossRupiah < SMALLEST_PAYOUT_RUPIAH) {
    await expect(applyPayout(merchant, [])).rejects.toThrow('rejected');
    return [];
  }
  expect(await applyPayout(merchant, payout.path)).toMatchObject({ grossRupiah });
  const rupiah = { gross: grossRupiah, amount: grossRupiah - FEE_RUPIAH, debt: -grossRupiah };
  return [-grossRupiah, ...payout.adds.map((amount) => rupiah[amount])];
}

const sumOf = (lines: readonly { readonly amountRupiah: number }[]): number =>
  lines.reduce((sum, { amountRupiah }) => sum + amountRupiah, 0);

async function ledgerBalanceOf(merchantId: string, account: LedgerAccount): Promise<number> {
  const { rows } = await ledger.db.query<{ rupiah: number }>(
    `select (
       coalesce((
         select sum(case side when 'credit' then amount_rupiah else -amount_rupiah end)
         from ledger_entries join ledger_postings posting on posting.id = posting_id
         where merchant_id = $1 and account = $2
       ), 0) + coalesce((
         select sum(credit_rupiah - debit_rupiah) from ledger_closings
         where merchant_id = $1 and account = $2
       ), 0)
     )::bigint as rupiah`,
    [merchantId, account],
  );
  return rows[0]?.rupiah ?? NaN;
}

/** The days of the months in which the merchant has lines, and of that with the open day. */
async function daysOf({ merchantId, lines }: Expected): Promise<BalanceDay[]> {
  const months = new Set([...lines.map(({ day }) => day.slice(0, 7)), openDay.slice(0, 7)]);
  const days: BalanceDay[] = [];
  for (const month of [...months].sort()) days.push(...(await listBalanceDays(ledger.db, merchantId, month)));
  return days;
}

/** All lines of a day, read in pages. */
async function readStatement(merchantId: string, day: string): Promise<StatementLine[]> {
  const first = await getStatement(ledger.db, merchantId, day, { limit: 2 });
  const lines = [...first.lines];
  for (let after = first.next; after !== null;) {
    const page = await getStatement(ledger.db, merchantId, day, { limit: 2, after });
    lines.push(...page.lines);
    after = page.next;
  }
  return lines;
}

/** The lines of these days as CSV: those of the open day are counted first. */
async function readCsv(merchantId: string, days: Iterable<string>): Promise<string[]> {
  await countLines(ledger.db);
  const lines: string[] = [];
  for (const day of days) {
    let csv = '';
    for await (const part of streamStatementCsv(ledger.db, merchantId, day)) csv += part;
    lines.push(...csv.split('\r\n').slice(1, -1));
  }
  return lines;
}

/** Balance, days, statements and CSV are those of the history, and of the ledger. */
async function expectBalance(expected: Expected): Promise<void> {
  const { merchantId, lines } = expected;
  const balance = await getBalance(ledger.db, merchantId);
  expect(balance).toMatchObject({ availableRupiah: sumOf(lines), pendingRupiah: 0 });
  expect(await ledgerBalanceOf(merchantId, 'merchant_available')).toBe(sumOf(lines));
  expect(await ledgerBalanceOf(merchantId, 'payout_in_transit')).toBe(balance.inTransitRupiah);
  let openingRupiah = 0;
  for (const balanceDay of await daysOf(expected)) {
    const { day, closingRupiah } = balanceDay;
    const ofDay = lines.filter((line) => line.day === day);
    expect(balanceDay).toMatchObject({ openingRupiah, lineCount: ofDay.length, isClosed: day < openDay });
    expect(closingRupiah).toBe(openingRupiah + sumOf(ofDay));
    const statement = await readStatement(merchantId, day);
    expect(statement.map(({ amountRupiah }) => amountRupiah)).toEqual(ofDay.map(({ amountRupiah }) => amountRupiah));
    expect(statement.at(-1)?.balanceAfterRupiah ?? openingRupiah).toBe(closingRupiah);
    openingRupiah = closingRupiah;
  }
  expect(openingRupiah).toBe(sumOf(lines));
  await expectPeriods(expected);
  const csv = await readCsv(merchantId, new Set([...lines.map(({ day }) => day), openDay]));
  expect(csv.map((line) => Number(line.split(',')[5]))).toEqual(lines.map(({ amountRupiah }) => amountRupiah));
  expect(Number(csv.at(-1)?.split(',')[6] ?? 0)).toBe(sumOf(lines));
}

/** A statement of any days has the sums of its days, and the file the lines between its opening and its closing. */
async function expectPeriods({ merchantId, lines }: Expected): Promise<void> {
  await countLines(ledger.db);
  const days = [...new Set([...lines.map(({ day }) => day), openDay])].toSorted();
  for (const [index, from] of days.entries()) {
    for (const to of days.slice(index)) {
      const within = lines.filter(({ day }) => from <= day && day <= to);
      const before = sumOf(lines.filter(({ day }) => day < from));
      const credit = sumOf(within.filter(({ amountRupiah }) => amountRupiah > 0));
      const statement = await getPeriodStatement(ledger.db, merchantId, { from, to });
      expect(statement).toMatchObject({
        openingRupiah: before,
        creditRupiah: credit,
        debitRupiah: credit - sumOf(within),
        closingRupiah: before + sumOf(within),
        lineCount: within.length,
        isClosed: to < openDay,
      });
      expect(statement.days[0]?.openingRupiah ?? before).toBe(before);
      expect(statement.days.at(-1)?.closingRupiah ?? before).toBe(statement.closingRupiah);
      const { openingRupiah, isClosed, readPage } = await openStatementExport(ledger.db, merchantId, { from, to });
      expect([openingRupiah, isClosed]).toEqual([before, to < openDay]);
      const file: ExportedLine[] = [];
      for (let page = await readPage(null, 2); page.length > 0; page = await readPage(file.at(-1) ?? null, 2)) {
        file.push(...page);
      }
      expect(file.map(({ amountRupiah }) => amountRupiah)).toEqual(within.map(({ amountRupiah }) => amountRupiah));
      expect(file.map(({ isClosed }) => isClosed)).toEqual(within.map(({ day }) => day < openDay));
      expect(file.at(-1)?.balanceAfterRupiah ?? before).toBe(statement.closingRupiah);
    }
  }
}

/** Writes random histories and compares each with balance, days, statements and CSV, also after the archive. */
export async function checkRandomHistories(count: number): Promise<{ readonly compared: number }> {
  ledger = await createTestPayouts();
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-balance-'));
  try {
    // The clock of the machine is behind the open day from here on, so midnight changes nothing.
    openDay = await closeUntil('booking_day(now()) + 2');
    const all = await checkHistories(count);
    await issueNow(ledger.db, ledger.masterKey);
    await expectInvoices(all);
    await archiveAll(directory);
    for (const expected of all.filter((_, index) => index % 20 === 0)) await expectBalance(expected);
    expect((await verifyLedger(ledger.db, { all: true })).breaks).toEqual([]);
    return { compared: all.length };
  } finally {
    await ledger.close();
    await rm(directory, { recursive: true });
  }
}

async function checkHistories(count: number): Promise<Expected[]> {
  const all: Expected[] = [];
  await assert(
    asyncProperty(array(anyEvent, { minLength: 1, maxLength: 6 }), async (history) => {
      const expected = await run(history);
      await expectBalance(expected);
      all.push(expected);
      if (all.length % 10 === 0) await issueNow(ledger.db, ledger.masterKey);
    }),
    { numRuns: count },
  );
  return all;
}

const DAY_MS = 86_400_000;

async function archiveAll(directory: string): Promise<void> {
  await backdatePayments(ledger.db, "interval '40 days'");
  expect((await verifyLedger(ledger.db, { all: true })).breaks).toEqual([]);
  const before = new Date(T0.getTime() - 20 * DAY_MS).toISOString().slice(0, 10);
  const written = await writeArchive(ledger.db, { before, directory, isDryRun: false, onDay: () => undefined });
  const elsewhere = path.join(directory, 'copies');
  await mkdir(elsewhere);
  for (const { file } of written) {
    if (file === null) continue;
    const copy = path.join(elsewhere, path.basename(file));
    await copyFile(file, copy);
    await removeArchived(ledger.db, copy);
  }
  expect((await ledger.db.query('select from payments')).rowCount).toBe(0);
}
