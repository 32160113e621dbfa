import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from '../../db/connection/pool';
import type { MerchantSum } from '../../db/ledger/balance-verification';
import {
  findLedgerCheckpoint,
  readLedgerHorizon,
  readSumsUpTo,
  recordLedgerCheckpoint,
  recordLedgerResult,
  type AccountSums,
  type LedgerCheckpoint,
} from '../../db/ledger/ledger-verifications';
import { readLedgerClosings } from '../../db/operations/archive';
import { formatRupiah } from '../../domain/money';
import { ConflictError } from '../../errors';
import {
  AvailableSums,
  findDayBreaks,
  findNewDayBreaks,
  lineBreakOf,
  lineDifferencesSql,
  type LineDifference,
} from './find-balance-breaks';
import { findIssuedPosting, InvoicedSums, type FeeSum } from './find-invoice-breaks';
import { findLedgerBreaks, type LedgerBreak } from './find-ledger-breaks';
import { findInTransitBreaks, findPayoutBreaks } from './find-payout-breaks';
import { findTotalBreaks } from './find-total-breaks';
import { readAllLedgers, readChangedLedgers } from './read-payment-ledgers';
import { readPayoutLedgers } from './read-payout-ledgers';

export interface AccountBalance extends AccountSums {
  /** Debit less credit. */
  readonly balanceRupiah: number;
}

export interface LedgerVerification {
  /** The start: the balances are of this timestamp, each payment is verified as of this timestamp or later. */
  readonly asOf: Date;
  /** Only payments that changed since then were verified; null: all payments. */
  readonly since: Date | null;
  readonly payments: number;
  readonly payouts: number;
  readonly postings: number;
  readonly balances: readonly AccountBalance[];
  readonly breakCount: number;
  /** The first `MAX_BREAKS` breaks. */
  readonly breaks: readonly LedgerBreak[];
}

const MAX_BREAKS = 10_000;
const ENTRIES_PER_PAGE = 20_000;

/**
 * An incremental verification starts this long before the start of the previous one. A transition is recorded a few
 * seconds after its transaction's start at the latest; the rest covers different clocks after a fail-over of
 * PostgreSQL.
 */
const OVERLAP_MS = 3_600_000;

/** The checkpoint of a verification that starts with the first payment; the balances are those of the archive. */
const EMPTY_CHECKPOINT: LedgerCheckpoint = { recordedUntil: new Date(0), postingId: 0, balances: [] };

export interface VerifyOptions {
  /** All payments, not only those that changed since the last verification without breaks. */
  readonly all?: boolean;
  /** Called after each page with the number of verified payments. */
  readonly onProgress?: (payments: number) => void;
}

/**
 * Recomputes the ledger of each payment from the rows in the database. Payments may change meanwhile: each page is one
 * statement, so no snapshot is held for long. A verification without breaks is recorded, and the next one verifies only
 * payments that changed since.
 *
 * This finds all changes of the service, because transitions, postings and entries are append-only: each change of a
 * payment adds a transition or a posting. Entries that were added to a posting that was verified, or changed, are found
 * by the sums; which they are, and other manual changes of old rows, are found only with `all`.
 */
export async function verifyLedger(
  db: Queryable,
  { all = false, onProgress = () => undefined }: VerifyOptions = {},
): Promise<LedgerVerification> {
  const horizon = await readLedgerHorizon(db);
  const checkpoint = all ? undefined : await findLedgerCheckpoint(db);
  const archivedBalances = checkpoint ? [] : await readLedgerClosings(db);
  const { recordedUntil, postingId, balances } = checkpoint ?? { ...EMPTY_CHECKPOINT, balances: archivedBalances };
  const breaks: LedgerBreak[] = [];
  let [breakCount, payments, payouts, postings] = [0, 0, 0, 0];
  const count = (found: LedgerBreak) => {
    breakCount += 1;
    if (breaks.length < MAX_BREAKS) breaks.push(found);
  };
  for await (const ledgers of checkpoint ? readChangedLedgers(db, recordedUntil, postingId) : readAllLedgers(db)) {
    for (const ledger of ledgers) {
      if (ledger.payment) payments += 1;
      postings += ledger.postings.length;
      for (const found of findLedgerBreaks(ledger)) count(found);
    }
    onProgress(payments);
  }
  for await (const ledgers of readPayoutLedgers(db, checkpoint)) {
    for (const ledger of ledgers) {
      if (ledger.payment) payouts += 1;
      postings += ledger.postings.length;
      for (const found of findPayoutBreaks(ledger)) count(found);
    }
  }

  const sums = new Map(balances.map((sum) => [sum.account, sum]));
  const availableSums = new AvailableSums();
  const issuedUpTo = await findIssuedPosting(db);
  const invoicedSums = new InvoicedSums();
  for await (const page of readEntries(db, postingId, { counted: horizon.postingId, issued: issuedUpTo })) {
    for (const posting of page.strays) {
      const detail = `Posting ${posting} is missing, but has entries.`;
      count({ kind: 'entries_without_posting', paymentId: null, detail });
    }
    for (const difference of page.lineDifferences) count(lineBreakOf(difference));
    for (const sum of page.sums) sums.set(sum.account, addSums(sum, sums.get(sum.account)));
    availableSums.add(page.availableSums);
    invoicedSums.add(page.feeSums);
  }
  if (!checkpoint && horizon.isDecided) {
    for await (const found of availableSums.findBreaks(db, horizon.postingId)) count(found);
    for (const found of await findDayBreaks(db, MAX_BREAKS)) count(found);
    for await (const found of findTotalBreaks(db)) count(found);
    for (const found of await invoicedSums.findBreaks(db, issuedUpTo)) count(found);
    for (const found of await findInTransitBreaks(db)) count(found);
  }
  if (checkpoint) for (const found of await findBreaksSince(db, checkpoint)) count(found);
  else await requireSameClosings(db, archivedBalances);
  const newBalances = [...sums.values()].sort((one, other) => (one.account < other.account ? -1 : 1));
  if (breakCount === 0 && horizon.isDecided) {
    const until = new Date(horizon.asOf.getTime() - OVERLAP_MS);
    await recordLedgerCheckpoint(db, !checkpoint, {
      recordedUntil: until,
      postingId: horizon.postingId,
      balances: newBalances,
    });
  }
  await recordLedgerResult(db, { isFull: !checkpoint, breakCount });
  const { asOf } = horizon;
  const since = checkpoint ? recordedUntil : null;
  return { asOf, since, payments, payouts, postings, balances: newBalances.map(balanceOf), breakCount, breaks };
}

/** What no payment or payout shows: closed days, and sums. */
async function findBreaksSince(db: Queryable, checkpoint: LedgerCheckpoint): Promise<LedgerBreak[]> {
  const ofDays = await findNewDayBreaks(db, checkpoint.recordedUntil, MAX_BREAKS);
  return [...ofDays, ...(await findChangedSums(db, checkpoint))];
}

/** What was verified has the same sums for good. */
async function findChangedSums(db: Queryable, { postingId, balances }: LedgerCheckpoint): Promise<LedgerBreak[]> {
  const archived = await readLedgerClosings(db);
  const before = new Map(balances.map((sum) => [sum.account, sum]));
  const now = new Map(archived.map((sum) => [sum.account, sum]));
  for await (const sums of readSumsUpTo(db, postingId)) {
    for (const sum of sums) now.set(sum.account, addSums(sum, now.get(sum.account)));
  }
  const breaks = [...new Set([...before.keys(), ...now.keys()])].flatMap((account): LedgerBreak[] => {
    const [verified, found] = [before.get(account), now.get(account)].map(textOfSums);
    if (verified === found) return [];
    const detail = `${account}: the postings up to ${postingId} have ${found}, and had ${verified} when verified.`;
    return [{ kind: 'verified_sums_disagree', paymentId: null, detail }];
  });
  if (breaks.length > 0) await requireSameClosings(db, archived);
  return breaks;
}

function textOfSums(sums: Omit<AccountSums, 'account'> = { debitRupiah: 0, creditRupiah: 0 }): string {
  return `debit ${formatRupiah(sums.debitRupiah)}, credit ${formatRupiah(sums.creditRupiah)}`;
}

/** Entries that are archived while a verification adds them up would be in neither sum, or in both. */
async function requireSameClosings(db: Queryable, before: readonly AccountSums[]): Promise<void> {
  if (isDeepStrictEqual(await readLedgerClosings(db), before)) return;
  const text = 'Payments were archived during the verification, so its sums are not complete. Run it again.';
  throw new ConflictError('archive_changed', text);
}

function addSums(sum: AccountSums, to: AccountSums | undefined): AccountSums {
  return {
    account: sum.account,
    debitRupiah: sum.debitRupiah + (to?.debitRupiah ?? 0),
    creditRupiah: sum.creditRupiah + (to?.creditRupiah ?? 0),
  };
}

function balanceOf({ account, debitRupiah, creditRupiah }: AccountSums): AccountBalance {
  return { account, debitRupiah, creditRupiah, balanceRupiah: debitRupiah - creditRupiah };
}

/** Some entries: the missing postings that they refer to, the sums of each account, and what differs from the lines. */
interface EntriesPage {
  readonly strays: readonly number[];
  readonly sums: readonly AccountSums[];
  /** The sums of the available balance by merchant. */
  readonly availableSums: readonly MerchantSum[];
  /** The fees up to the last posting that is invoiced. */
  readonly feeSums: readonly FeeSum[];
  readonly lineDifferences: readonly LineDifference[];
  /** The posting of the last entry; null if there are no more. */
  readonly last: number | null;
}

/** The last postings that sums include. */
interface SumLimits {
  /** The last one in sums of accounts and balances. */
  readonly counted: number;
  /** The last one in sums of fees. */
  readonly issued: number;
}

/** All entries of postings above this id. */
async function* readEntries(db: Queryable, above: number, upTo: SumLimits): AsyncGenerator<EntriesPage> {
  for (let after: number | null = above; after !== null;) {
    const { rows }: { rows: EntriesPage[] } = await db.query<EntriesPage>(
      `with entry as materialized (
         select posting_id, account, side, amount_rupiah from ledger_entries where posting_id > $1 order by posting_id
         fetch first ${ENTRIES_PER_PAGE} rows with ties
       ), available as (
         select entry.posting_id, posting.payment_id, posting.merchant_id,
           sum(case side when 'credit' then amount_rupiah else -amount_rupiah end)::bigint as amount_rupiah
         from entry left join ledger_postings posting on posting.id = entry.posting_id
         where account = 'merchant_available' group by entry.posting_id, posting.payment_id, posting.merchant_id
       )
       select (select max(posting_id) from entry) as last,
         (select coalesce(json_agg(distinct posting_id), '[]') from entry
           where not exists (select from ledger_postings where id = entry.posting_id)) as strays,
         (select coalesce(json_agg(sum), '[]') from (
           select account, coalesce(sum(amount_rupiah) filter (where side = 'debit'), 0)::bigint as "debitRupiah",
             coalesce(sum(amount_rupiah) filter (where side = 'credit'), 0)::bigint as "creditRupiah"
           from entry where posting_id <= $2 group by account) sum) as sums,
         (select coalesce(json_agg(sum), '[]') from (
           select merchant_id as "merchantId", sum(amount_rupiah)::bigint as "amountRupiah"
           from available where posting_id <= $2 and merchant_id is not null group by merchant_id) sum
         ) as "availableSums",
         (select coalesce(json_agg(sum), '[]') from (
           select posting.merchant_id as "merchantId", account,
             sum(case side when 'credit' then amount_rupiah else -amount_rupiah end)::bigint as "amountRupiah"
           from entry join ledger_postings posting on posting.id = entry.posting_id
           where account in ('fee_revenue', 'vat_payable') and posting_id <= $3 group by 1, 2) sum
         ) as "feeSums",
         (select coalesce(json_agg(difference), '[]') from (${lineDifferencesSql('$1')}
         ) difference) as "lineDifferences"`,
      [after, upTo.counted, upTo.issued],
    );
    const page: EntriesPage | undefined = rows[0];
    if (page && page.last !== null) yield page;
    after = page?.last ?? null;
  }
}
