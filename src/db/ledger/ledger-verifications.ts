import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerAccount } from '../../domain/ledger';
import type { Queryable } from '../connection/pool';

/** The sums of an account's entries. */
export interface AccountSums {
  readonly account: LedgerAccount;
  readonly debitRupiah: number;
  readonly creditRupiah: number;
}

/** Everything up to here was verified without a break. */
export interface LedgerCheckpoint {
  /** Every transition that PostgreSQL recorded before this time is verified. */
  readonly recordedUntil: Date;
  /** Every posting up to this id is verified and included in the balances. */
  readonly postingId: number;
  readonly balances: readonly AccountSums[];
}

/** The newest checkpoint; undefined if the ledger was never verified. */
export async function findLedgerCheckpoint(db: Queryable): Promise<LedgerCheckpoint | undefined> {
  const { rows } = await db.query<LedgerCheckpoint>(
    `select recorded_until as "recordedUntil", posting_id as "postingId", balances
     from ledger_verifications order by id desc limit 1`,
  );
  return rows[0];
}

export async function recordLedgerCheckpoint(
  db: Queryable,
  isFull: boolean,
  { recordedUntil, postingId, balances }: LedgerCheckpoint,
): Promise<void> {
  await db.query(
    'insert into ledger_verifications (is_full, recorded_until, posting_id, balances) values ($1, $2, $3, $4)',
    [isFull, recordedUntil, postingId, JSON.stringify(balances)],
  );
}

/** Records the result of a verification, for metrics. */
export async function recordLedgerResult(
  db: Queryable,
  { isFull, breakCount }: { readonly isFull: boolean; readonly breakCount: number },
): Promise<void> {
  await db.query('insert into ledger_verification_results (is_full, break_count) values ($1, $2)', [
    isFull,
    breakCount,
  ]);
}

interface SumsPart {
  readonly sums: readonly AccountSums[];
  /** The posting of the last entry; null if there are no more. */
  readonly last: number | null;
}

/** Bounds memory and the duration of a statement. */
const ENTRIES_PER_SUM = 200_000;

/** The sums of all entries of postings up to this id, in parts. Archived entries are only in `ledger_closings`. */
export async function* readSumsUpTo(db: Queryable, postingId: number): AsyncGenerator<readonly AccountSums[]> {
  for (let after: number | null = 0; after !== null;) {
    const { rows }: { rows: SumsPart[] } = await db.query<SumsPart>(
      `with entry as materialized (
         select posting_id, account, side, amount_rupiah from ledger_entries
         where posting_id > $1 and posting_id <= $2 order by posting_id
         fetch first ${ENTRIES_PER_SUM} rows with ties
       )
       select (select max(posting_id) from entry) as last,
         (select coalesce(json_agg(sum), '[]') from (
           select account, coalesce(sum(amount_rupiah) filter (where side = 'debit'), 0)::bigint as "debitRupiah",
             coalesce(sum(amount_rupiah) filter (where side = 'credit'), 0)::bigint as "creditRupiah"
           from entry group by account) sum) as sums`,
      [after, postingId],
    );
    const part: SumsPart | undefined = rows[0];
    if (part) yield part.sums;
    after = part?.last ?? null;
  }
}

/** The state at the start of a verification. */
export interface LedgerHorizon {
  readonly asOf: Date;
  /** The newest posting. */
  readonly postingId: number;
  /** No transaction in flight can still commit a posting with an id up to this one. */
  readonly isDecided: boolean;
}

const DECISION_TIMEOUT_MS = 10_000;
const POLL_MS = 50;

/**
 * Transactions do not commit in the order of their posting ids. So this waits until every transaction has ended that
 * was in flight when the newest posting was read, for 10 seconds at most. A transition writes its row before its
 * posting, so its transaction has a number by then. Each number in use is below the new one that this takes. The upper
 * bound of a snapshot is not: it can be the number of the newest transaction, which is still in flight.
 */
export async function readLedgerHorizon(db: Queryable): Promise<LedgerHorizon> {
  const { rows } = await db.query<{ asOf: Date; postingId: number; nextTransaction: string }>(
    `select now() as "asOf", coalesce((select max(id) from ledger_postings), 0) as "postingId",
       pg_current_xact_id()::text as "nextTransaction"`,
  );
  const [{ asOf, postingId, nextTransaction } = { asOf: new Date(), postingId: 0, nextTransaction: '0' }] = rows;
  const isDecided = await haveTransactionsEnded(db, nextTransaction, DECISION_TIMEOUT_MS);
  return { asOf, postingId, isDecided };
}

/** Waits until all transactions before this one have ended. @returns false if some have not, after the timeout */
export async function haveTransactionsEnded(db: Queryable, transaction: string, timeoutMs: number): Promise<boolean> {
  const deadlineAtMs = Date.now() + timeoutMs;
  let haveEnded = await areComplete(db, transaction);
  while (!haveEnded && Date.now() < deadlineAtMs) {
    await sleep(POLL_MS);
    haveEnded = await areComplete(db, transaction);
  }
  return haveEnded;
}

/** All transactions before this one. */
async function areComplete(db: Queryable, transaction: string): Promise<boolean> {
  const { rows } = await db.query<{ areComplete: boolean }>(
    'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as "areComplete"',
    [transaction],
  );
  return rows[0]?.areComplete ?? false;
}
