import type { Pool } from 'pg';
import type { Queryable } from '../db/pool';
import type { LedgerAccount } from '../domain/ledger';
import {
  type BookedLatePayment,
  type BookedPayment,
  type BookedPosting,
  type BookedTransition,
  breaksIn,
  type LedgerBreak,
  type PaymentBook,
} from './ledger-breaks';

export interface AccountBalance {
  readonly account: LedgerAccount;
  readonly debitRupiah: number;
  readonly creditRupiah: number;
  /** Debit less credit. */
  readonly balanceRupiah: number;
}

export interface LedgerVerification {
  /** The instant of which all this is true. */
  readonly asOf: Date;
  readonly payments: number;
  readonly postings: number;
  readonly balances: readonly AccountBalance[];
  readonly breakCount: number;
  /** The first `MOST_BREAKS` of them. */
  readonly breaks: readonly LedgerBreak[];
}

/** In hand at a time, so that the memory stays the same however many there are. */
const PAYMENTS_AT_A_TIME = 1_000;
const ENTRIES_AT_A_TIME = 50_000;
const MOST_BREAKS = 10_000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Recomputes the ledger, payment by payment, from what the database holds at one instant, while business goes on.
 * @param onProgress told every now and then how many payments have been looked at
 */
export async function verifyLedger(
  db: Pool,
  onProgress: (payments: number) => void = () => undefined,
): Promise<LedgerVerification> {
  const client = await db.connect();
  try {
    // All reads see the same instant: a payment that moves on meanwhile is no break.
    await client.query('begin isolation level repeatable read, read only');
    const verification = await verify(client, onProgress);
    await client.query('commit');
    client.release();
    return verification;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function verify(db: Queryable, onProgress: (payments: number) => void): Promise<LedgerVerification> {
  const asOf = await readInstant(db);
  const breaks: LedgerBreak[] = [];
  let [breakCount, payments, postings] = [0, 0, 0];
  const count = (found: LedgerBreak) => {
    breakCount += 1;
    if (breaks.length < MOST_BREAKS) breaks.push(found);
  };
  for await (const books of readBooks(db)) {
    for (const book of books) {
      if (book.payment) payments += 1;
      postings += book.postings.length;
      for (const found of breaksIn(book)) count(found);
    }
    onProgress(payments);
  }
  for await (const found of findStrayEntries(db)) count(found);
  return { asOf, payments, postings, balances: await readBalances(db), breakCount, breaks };
}

async function readInstant(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select now()');
  return rows[0]?.now ?? new Date();
}

/** By ranges of payment ids, so that rows of a payment that is not there come up as well. */
async function* readBooks(db: Queryable): AsyncGenerator<Iterable<PaymentBook>> {
  for (let after = FIRST_ID, upTo = ''; upTo !== LAST_ID; after = upTo) {
    upTo = await findRangeEnd(db, after);
    yield readRange(db, after, upTo);
  }
}

async function findRangeEnd(db: Queryable, after: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    'select id from payments where id > $1 order by id offset $2 limit 1',
    [after, PAYMENTS_AT_A_TIME - 1],
  );
  return rows[0]?.id ?? LAST_ID;
}

type OfPayment<Row> = Row & { readonly paymentId: string };

async function readRange(db: Queryable, after: string, upTo: string): Promise<Iterable<PaymentBook>> {
  const books = new Map<string, PaymentBook>();
  const bookOf = ({ paymentId }: { readonly paymentId: string }): PaymentBook => {
    const book = books.get(paymentId) ?? { paymentId, transitions: [], postings: [] };
    books.set(paymentId, book);
    return book;
  };
  const range = [after, upTo];
  const payments = await db.query<OfPayment<BookedPayment>>(
    `select id as "paymentId", merchant_id as "merchantId", status, version, total_rupiah as "totalRupiah",
       net_rupiah as "netRupiah", fee_rupiah as "feeRupiah"
     from payments where id > $1 and id <= $2`,
    range,
  );
  for (const row of payments.rows) bookOf(row).payment = row;
  const transitions = await db.query<OfPayment<BookedTransition>>(
    `select payment_id as "paymentId", version, name, from_status as "fromStatus", to_status as "toStatus"
     from payment_transitions where payment_id > $1 and payment_id <= $2 order by payment_id, version`,
    range,
  );
  for (const row of transitions.rows) bookOf(row).transitions.push(row);
  const postings = await db.query<OfPayment<BookedPosting>>(
    `select id, payment_id as "paymentId", merchant_id as "merchantId", payment_version as version,
       late_step as "lateStep",
       (select coalesce(json_agg(json_build_object('side', side, 'account', account, 'amountRupiah', amount_rupiah)), '[]')
          from ledger_entries where posting_id = ledger_postings.id) as lines
     from ledger_postings where payment_id > $1 and payment_id <= $2 order by id`,
    range,
  );
  for (const row of postings.rows) bookOf(row).postings.push(row);
  const latePayments = await db.query<OfPayment<BookedLatePayment>>(
    `select payment_id as "paymentId", status, total_rupiah as "totalRupiah"
     from late_payments where payment_id > $1 and payment_id <= $2`,
    range,
  );
  for (const row of latePayments.rows) bookOf(row).latePayment = row;
  return books.values();
}

async function* findStrayEntries(db: Queryable): AsyncGenerator<LedgerBreak> {
  let range = await readStrays(db, 0);
  while (range.last !== null) {
    for (const posting of range.strays) {
      const detail = `The posting ${posting} is not there, but entries of it are.`;
      yield { kind: 'entries_without_posting', paymentId: null, detail };
    }
    range = await readStrays(db, range.last);
  }
}

/** Postings that are not there, among those of the next entries; `last` is null when there are no more entries. */
async function readStrays(db: Queryable, after: number): Promise<{ last: number | null; strays: readonly number[] }> {
  const { rows } = await db.query<{ last: number | null; strays: readonly number[] }>(
    `select max(posting_id) as last,
       coalesce(json_agg(distinct posting_id) filter (where posting.id is null), '[]') as strays
     from (select posting_id from ledger_entries where posting_id > $1 order by posting_id
       fetch first ${ENTRIES_AT_A_TIME} rows with ties) entry
     left join ledger_postings posting on posting.id = posting_id`,
    [after],
  );
  return rows[0] ?? { last: null, strays: [] };
}

/** Of every entry that there is, whatever it belongs to. */
async function readBalances(db: Queryable): Promise<AccountBalance[]> {
  const { rows } = await db.query<AccountBalance>(
    `select account, debit as "debitRupiah", credit as "creditRupiah", debit - credit as "balanceRupiah"
     from (
       select account, coalesce(sum(amount_rupiah) filter (where side = 'debit'), 0)::bigint as debit,
         coalesce(sum(amount_rupiah) filter (where side = 'credit'), 0)::bigint as credit
       from ledger_entries group by account
     ) sums order by account`,
  );
  return rows;
}
