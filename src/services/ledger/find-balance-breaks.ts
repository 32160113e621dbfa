import type { Queryable } from '../../db/connection/pool';
import {
  findClosedDayDifferences,
  findNewlyClosedDayDifferences,
  findOpenDayDifferences,
  readArchivedSums,
  readLineSums,
  type DayDifference,
  type MerchantSum,
} from '../../db/ledger/balance-verification';
import { formatRupiah } from '../../domain/money';
import type { LedgerBreak } from './find-ledger-breaks';

/** An entry of the available balance and its line that are not alike. */
export interface LineDifference {
  readonly postingId: number;
  readonly paymentId: string | null;
  /** Null: there is no such entry. */
  readonly entryRupiah: number | null;
  /** Null: there is no such line. */
  readonly lineRupiah: number | null;
}

/**
 * The SQL of the differences between the entries of `entry`, a page of the ledger, and the lines from `above` to its
 * end. The line of an archived payment has no entry any more.
 */
export function lineDifferencesSql(above: string): string {
  return `
    select posting_id as "postingId", coalesce(available.payment_id, line.payment_id) as "paymentId",
      available.amount_rupiah as "entryRupiah", line.amount_rupiah as "lineRupiah"
    from available full join (
      select * from balance_transactions
      where posting_id > ${above} and posting_id <= (select max(posting_id) from entry)
    ) line using (posting_id)
    where line.posting_id is null
      or (available.amount_rupiah is null
        and not exists (select from archived_payments archived where archived.payment_id = line.payment_id))
      or available.amount_rupiah <> line.amount_rupiah
      or available.merchant_id <> line.merchant_id`;
}

/** A line that is missing, or has another amount or merchant than its entry, or no entry. */
export function lineBreakOf({ postingId, paymentId, entryRupiah, lineRupiah }: LineDifference): LedgerBreak {
  const line = `The line of posting ${postingId}`;
  if (lineRupiah === null) return { kind: 'line_missing', paymentId, detail: `${line} is missing.` };
  const found = `${line} has ${formatRupiah(lineRupiah)}`;
  if (entryRupiah === null) return { kind: 'line_unexpected', paymentId, detail: `${found}, but no entry exists.` };
  const detail = `${found}; its entry has ${formatRupiah(entryRupiah)}, and both should be of the same merchant.`;
  return { kind: 'line_disagrees', paymentId, detail };
}

/** The sums of available balances by merchant, while the entries are read. */
export class AvailableSums {
  readonly #rupiah = new Map<string, number>();

  add(sums: readonly MerchantSum[]): void {
    for (const { merchantId, amountRupiah } of sums)
      this.#rupiah.set(merchantId, (this.#rupiah.get(merchantId) ?? 0) + amountRupiah);
  }

  /** Compares each merchant's sum, with what is archived, with that of its lines. */
  async *findBreaks(db: Queryable, upToPostingId: number): AsyncGenerator<LedgerBreak> {
    this.add(await readArchivedSums(db));
    const ofLines = new Map(
      (await readLineSums(db, upToPostingId)).map(({ merchantId, amountRupiah }) => [merchantId, amountRupiah]),
    );
    for (const merchantId of new Set([...this.#rupiah.keys(), ...ofLines.keys()])) {
      const [ledger, lines] = [this.#rupiah.get(merchantId) ?? 0, ofLines.get(merchantId) ?? 0];
      if (ledger === lines) continue;
      const sums = `the ledger has ${formatRupiah(ledger)}, its lines ${formatRupiah(lines)}`;
      const detail = `Merchant ${merchantId}: ${sums}.`;
      yield { kind: 'balance_disagrees', paymentId: null, detail };
    }
  }
}

/** Days whose sums are not those of their lines, at most so many closed ones and so many others. */
export async function findDayBreaks(db: Queryable, limit: number): Promise<LedgerBreak[]> {
  const closed = await findClosedDayDifferences(db, limit);
  const open = await findOpenDayDifferences(db, limit);
  return [
    ...closed.map(closedDayBreakOf),
    ...open.map((difference) => dayBreakOf('open_day_disagrees', 'the sum of the open day', difference)),
  ];
}

/** The breaks of the days that were closed after this time. */
export async function findNewDayBreaks(db: Queryable, since: Date, limit: number): Promise<LedgerBreak[]> {
  return (await findNewlyClosedDayDifferences(db, since, limit)).map(closedDayBreakOf);
}

const closedDayBreakOf = (difference: DayDifference): LedgerBreak =>
  dayBreakOf('closed_day_disagrees', 'the closed day', difference);

function dayBreakOf(kind: LedgerBreak['kind'], subject: string, difference: DayDifference): LedgerBreak {
  const { merchantId, day, recordedRupiah, linesRupiah } = difference;
  const [recorded, lines] = [recordedRupiah ?? 0, linesRupiah ?? 0].map(formatRupiah);
  const detail = `Merchant ${merchantId}, ${day}: ${subject} changes by ${recorded}, its lines by ${lines}.`;
  return { kind, paymentId: null, detail };
}
