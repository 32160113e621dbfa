import {
  findLedgerCheckpoint,
  readLedgerHorizon,
  recordLedgerCheckpoint,
  type AccountSums,
  type LedgerCheckpoint,
} from '../db/ledger-verifications';
import type { Queryable } from '../db/pool';
import { findLedgerBreaks, type LedgerBreak } from './find-ledger-breaks';
import { readAllLedgers, readChangedLedgers } from './read-payment-ledgers';

export interface AccountBalance extends AccountSums {
  /** Debit less credit. */
  readonly balanceRupiah: number;
}

export interface LedgerVerification {
  /** When it began: the balances are of then, and each payment is verified as it was then or later. */
  readonly asOf: Date;
  /** Payments that changed since then were verified; null: all payments were. */
  readonly since: Date | null;
  readonly payments: number;
  readonly postings: number;
  readonly balances: readonly AccountBalance[];
  readonly breakCount: number;
  /** The first `MOST_BREAKS` of them. */
  readonly breaks: readonly LedgerBreak[];
}

const MAX_BREAKS = 10_000;
const ENTRIES_PER_PAGE = 20_000;

/**
 * An incremental verification goes back so much further than the start of the one before it. A transition is recorded within seconds
 * of its transaction's start; the rest is for clocks that differ after a fail-over of PostgreSQL.
 */
const OVERLAP_MS = 3_600_000;

/** The horizon of a verification that begins with the first payment. */
const EMPTY_CHECKPOINT: LedgerCheckpoint = { recordedUntil: new Date(0), postingId: 0, balances: [] };

export interface VerifyOptions {
  /** Every payment, not only those that changed since the last verification that was sound. */
  readonly all?: boolean;
  /** Called every now and then with how many payments have been verified. */
  readonly onProgress?: (payments: number) => void;
}

/**
 * Recomputes the ledger, payment by payment, from what the database holds, while business goes on. Each page is one statement, so
 * that none holds a snapshot for long. A sound verification is recorded, and the next one verifies what was written since.
 *
 * This is sound because transitions, postings and entries are append-only: whatever the service writes about a payment comes with a
 * new transition or a new posting. What a hand in the database changes in old rows is found by `all` only.
 */
export async function verifyLedger(
  db: Queryable,
  { all = false, onProgress = () => undefined }: VerifyOptions = {},
): Promise<LedgerVerification> {
  const horizon = await readLedgerHorizon(db);
  const checkpoint = all ? undefined : await findLedgerCheckpoint(db);
  const { recordedUntil, postingId, balances } = checkpoint ?? EMPTY_CHECKPOINT;
  const breaks: LedgerBreak[] = [];
  let [breakCount, payments, postings] = [0, 0, 0];
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

  const sums = new Map(balances.map((sum) => [sum.account, sum]));
  for await (const page of readEntries(db, postingId, horizon.postingId)) {
    for (const posting of page.strays) count(strayBreak(posting));
    for (const sum of page.sums) sums.set(sum.account, addSums(sum, sums.get(sum.account)));
  }
  const newBalances = [...sums.values()].sort((one, other) => (one.account < other.account ? -1 : 1));
  if (breakCount === 0 && horizon.isDecided) {
    const until = new Date(horizon.asOf.getTime() - OVERLAP_MS);
    await recordLedgerCheckpoint(db, !checkpoint, {
      recordedUntil: until,
      postingId: horizon.postingId,
      balances: newBalances,
    });
  }
  const { asOf } = horizon;
  const since = checkpoint ? recordedUntil : null;
  return { asOf, since, payments, postings, balances: newBalances.map(balanceOf), breakCount, breaks };
}

function strayBreak(posting: number): LedgerBreak {
  const detail = `The posting ${posting} is not there, but entries of it are.`;
  return { kind: 'entries_without_posting', paymentId: null, detail };
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

/** Of some entries: the postings that are not there, and what is booked on each account. */
interface EntriesPage {
  readonly strays: readonly number[];
  readonly sums: readonly AccountSums[];
}

interface NextEntries extends EntriesPage {
  /** The posting of the last of them; null if there are no more. */
  readonly last: number | null;
}

/** All entries of postings above this id; those up to `countedUpTo` are in the sums. */
async function* readEntries(db: Queryable, above: number, countedUpTo: number): AsyncGenerator<EntriesPage> {
  for (let after: number | null = above; after !== null;) {
    const { rows }: { rows: NextEntries[] } = await db.query<NextEntries>(
      `with entry as materialized (
         select posting_id, account, side, amount_rupiah from ledger_entries where posting_id > $1 order by posting_id
         fetch first ${ENTRIES_PER_PAGE} rows with ties
       )
       select (select max(posting_id) from entry) as last,
         (select coalesce(json_agg(distinct posting_id), '[]') from entry
           where not exists (select from ledger_postings where id = entry.posting_id)) as strays,
         (select coalesce(json_agg(sum), '[]') from (
           select account, coalesce(sum(amount_rupiah) filter (where side = 'debit'), 0)::bigint as "debitRupiah",
             coalesce(sum(amount_rupiah) filter (where side = 'credit'), 0)::bigint as "creditRupiah"
           from entry where posting_id <= $2 group by account) sum) as sums`,
      [after, countedUpTo],
    );
    const page: NextEntries | undefined = rows[0];
    if (page && page.last !== null) yield page;
    after = page?.last ?? null;
  }
}
