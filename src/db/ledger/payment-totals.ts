import type { Pool, Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { inTransaction } from '../connection/transaction';
import { haveTransactionsEnded } from './ledger-verifications';
import { countBalanceLines } from './open-balance-days';

/* `payment_hour_totals`: payments and their sums by merchant, status, hour of creation and provider. */

const MAX_TRANSITIONS = 20_000;
const HORIZON_TIMEOUT_MS = 4_000;
/** The nightly pass recomputes the hours of so many days. */
const RECOMPUTED_DAYS = 40;
/** The pass of a day begins at this hour in WIB. */
export const PASS_HOUR = 2;
/** A step of the pass reads about so many payments: whole hours, and at least one. */
const MAX_PAYMENTS = 50_000;

/**
 * `complete`: all transitions and lines. `full`: there are more. `held`: a transaction that may still write an earlier
 * one is in flight. `busy`: another worker counts.
 */
export type CountOutcome = 'complete' | 'full' | 'held' | 'busy';

/**
 * Adds the transitions to the totals that were recorded since the last time: one less with the status before, one more
 * with the status after. It adds the new lines of balances to their open days, too. It changes all or nothing.
 *
 * No clock decides what is counted: after a fail-over it may go back. Transitions have numbers, and lines postings. A
 * transaction may commit one that is lower than one that is counted. So this waits until every transaction has ended
 * that was in flight when the newest ones were read: it writes a row of the payment before, so it has a transaction
 * number by then. This takes a number of its own for that: `pg_snapshot_xmax` can be the number of a transaction that
 * runs.
 */
export async function countTotals(db: Pool): Promise<CountOutcome> {
  const { rows } = await db.query<CountHorizon & { nextTransaction: string }>(
    `select now() as at, coalesce((select max(number) from payment_transitions), 0) as "transitionNumber",
       coalesce((select max(posting_id) from balance_transactions), 0) as "postingId",
       pg_current_xact_id()::text as "nextTransaction"`,
  );
  const { nextTransaction, ...horizon } = onlyRow(rows);
  if (!(await haveTransactionsEnded(db, nextTransaction, HORIZON_TIMEOUT_MS))) return 'held';
  return inTransaction(db, async (client) => {
    const progress = await lockProgress(client);
    if (progress === undefined) return 'busy';
    const areAllLines = await countBalanceLines(client, progress.postingId, horizon.postingId);
    const areAllTransitions = await countTransitions(client, progress.transitionNumber, horizon);
    return areAllLines && areAllTransitions ? 'complete' : 'full';
  });
}

/** Up to where there is something to count. */
interface CountHorizon {
  readonly at: Date;
  readonly transitionNumber: number;
  readonly postingId: number;
}

/** @returns false: there are more */
async function countTransitions(
  client: Queryable,
  after: number,
  { at, transitionNumber: upTo }: CountHorizon,
): Promise<boolean> {
  // Another worker has counted later ones since.
  if (after > upTo) return true;
  const { rows: last } = await client.query<{ number: number }>(
    `select number from payment_transitions where number > $1 and number <= $2
     order by number offset ${MAX_TRANSITIONS - 1} limit 1`,
    [after, upTo],
  );
  const end = last[0]?.number ?? upTo;
  await addChanges(client, TRANSITION_CHANGES, [after, end]);
  await client.query(
    'update totals_progress set transition_number = $1, counted_at = case when $2 then $3 else counted_at end',
    [end, end === upTo, at],
  );
  return end === upTo;
}

/** What is counted. */
type CountProgress = Omit<CountHorizon, 'at'>;

/** Undefined: another transaction has the lock. */
async function lockProgress(client: Queryable): Promise<CountProgress | undefined> {
  const { rows } = await client.query<CountProgress>(
    `select transition_number as "transitionNumber", line_posting_id as "postingId"
     from totals_progress for update skip locked`,
  );
  return rows[0];
}

/** What some transitions change, one row for each status before or after. */
const changesOf = (condition: string) => `
  select payment.merchant_id, side.status, date_trunc('hour', payment.created_at, 'UTC') as hour, payment.provider,
    side.sign as payments, side.sign * payment.total_rupiah as total_rupiah,
    side.sign * payment.net_rupiah as net_rupiah
  from payment_transitions transition join payments payment on payment.id = transition.payment_id
    cross join lateral (values (transition.from_status, -1), (transition.to_status, 1)) as side (status, sign)
  where side.status is not null and ${condition}`;

const grouped = (changes: string) => `
  select merchant_id, status, hour, provider, sum(payments)::integer as payments,
    sum(total_rupiah)::bigint as total_rupiah, sum(net_rupiah)::bigint as net_rupiah
  from (${changes}) change group by merchant_id, status, hour, provider
  having sum(payments) <> 0 or sum(total_rupiah) <> 0 or sum(net_rupiah) <> 0`;

const TRANSITION_CHANGES = grouped(changesOf('transition.number > $1 and transition.number <= $2'));

/**
 * By how much the totals of a merchant differ from its payments, from one hour until another. The payments are newer
 * than the totals: the transitions that are not counted yet are taken back. The days of the archive are left out,
 * because payments of them are in files. One statement, so all of it has one snapshot.
 */
const DIFFERENCES = grouped(`
  select merchant_id, status, date_trunc('hour', created_at, 'UTC') as hour, provider, 1 as payments, total_rupiah,
    net_rupiah
  from payments where merchant_id = $1 and created_at >= $2 and created_at < $3
  union all
  select merchant_id, status, hour, provider, -payments, -total_rupiah, -net_rupiah
  from (${changesOf(
    `transition.number > (select transition_number from totals_progress)
     and transition.number <= ${Number.MAX_SAFE_INTEGER}
     and payment.merchant_id = $1 and payment.created_at >= $2 and payment.created_at < $3`,
  )}) uncounted
  union all
  select merchant_id, status, hour, provider, -payments, -total_rupiah, -net_rupiah
  from payment_hour_totals where merchant_id = $1 and hour >= $2 and hour < $3
`).replace(
  ') change',
  `) change where not exists (select from archive_files
     where day = (hour at time zone 'UTC')::date and removal_began_at is not null)`,
);

/** @returns the number of totals that changed. Rows without a payment are deleted. */
async function addChanges(client: Queryable, changes: string, values: readonly unknown[]): Promise<number> {
  const { rows } = await client.query<{
    merchantId: string;
    status: string;
    hour: Date;
    provider: string;
    left: number;
  }>(
    `insert into payment_hour_totals as total
       (merchant_id, status, hour, provider, payments, total_rupiah, net_rupiah) ${changes}
     on conflict (merchant_id, status, hour, provider) do update set payments = total.payments + excluded.payments,
       total_rupiah = total.total_rupiah + excluded.total_rupiah, net_rupiah = total.net_rupiah + excluded.net_rupiah
     returning merchant_id as "merchantId", status, hour, provider, payments as left`,
    [...values],
  );
  const empty = rows.filter(({ left }) => left === 0);
  if (empty.length > 0) {
    await client.query(
      `delete from payment_hour_totals where (merchant_id, status, hour, provider) in (
         select * from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[])) and payments = 0`,
      [
        empty.map(({ merchantId }) => merchantId),
        empty.map(({ status }) => status),
        empty.map(({ hour }) => hour),
        empty.map(({ provider }) => provider),
      ],
    );
  }
  return rows.length;
}

/** One step of the nightly pass. */
export type PassStep = { readonly isDone: true } | { readonly isDone: false; readonly corrections: number };

/**
 * Recomputes the totals of the last 40 days, merchant by merchant, once a night. A step is as many hours of one
 * merchant as have about 50,000 payments, so that it ends in time whatever the merchant's number of payments. Any
 * worker continues the pass where another stopped. It waits while the totals are more than a minute old: the
 * transitions since then are read in each step.
 * @returns the number of totals that were wrong
 */
export function recomputeNext(db: Pool, maxPayments = MAX_PAYMENTS): Promise<PassStep> {
  return inTransaction(db, async (client) => {
    const next = await lockNextHours(client);
    if (next === undefined) return { isDone: true };
    const { merchantId, today, from } = next;
    if (merchantId === null) {
      await client.query('update totals_progress set recomputed_on = $1, recomputed_merchant = null', [today]);
      return { isDone: true };
    }
    const until = await findEndOfHours(client, { merchantId, from, maxPayments });
    await client.query('update totals_progress set recomputed_merchant = $1, recomputed_until = $2', [
      merchantId,
      until,
    ]);
    return {
      isDone: false,
      corrections: await addChanges(client, DIFFERENCES, [merchantId, from, until ?? 'infinity']),
    };
  });
}

interface NextHours {
  /** Null: all merchants are recomputed. */
  readonly merchantId: string | null;
  readonly from: Date;
  readonly today: string;
}

/** Undefined: the pass is complete, or it has to wait. */
async function lockNextHours(client: Queryable): Promise<NextHours | undefined> {
  const { rows } = await client.query<NextHours>(
    `select today::text,
       coalesce(recomputed_until, date_trunc('hour', now() - interval '${RECOMPUTED_DAYS} days', 'UTC')) as "from",
       case when recomputed_until is null then (
         select id from merchants where id > coalesce(recomputed_merchant, '00000000-0000-0000-0000-000000000000')
         order by id limit 1
       ) else recomputed_merchant end as "merchantId"
     from totals_progress, booking_day(now() - interval '${PASS_HOUR} hours') as today
     where recomputed_on < today and counted_at > now() - interval '1 minute'
     for update of totals_progress skip locked`,
  );
  return rows[0];
}

/** @returns the hour of the first payment that is too many, at least one hour later; null: none is */
async function findEndOfHours(
  client: Queryable,
  { merchantId, from, maxPayments }: { readonly merchantId: string; readonly from: Date; readonly maxPayments: number },
): Promise<Date | null> {
  const { rows } = await client.query<{ until: Date }>(
    `select greatest(date_trunc('hour', created_at, 'UTC'), $2::timestamptz + interval '1 hour') as until
     from payments where merchant_id = $1 and created_at >= $2 order by created_at, id offset $3 limit 1`,
    [merchantId, from, maxPayments],
  );
  return rows[0]?.until ?? null;
}

/** A total that is not what the payments add up to. */
export interface TotalDifference {
  readonly status: string;
  readonly hour: Date;
  readonly provider: string;
  readonly payments: number;
  readonly totalRupiah: number;
}

/** The differences of one merchant, over all time. Positive: the totals have too little. */
export async function findTotalDifferences(db: Queryable, merchantId: string): Promise<TotalDifference[]> {
  const { rows } = await db.query<TotalDifference>(
    `select status, hour, provider, payments, total_rupiah as "totalRupiah" from (${DIFFERENCES}) difference
     order by hour, status, provider`,
    [merchantId, '-infinity', 'infinity'],
  );
  return rows;
}

/** The merchants in an order, if the totals are kept: before the first count there is nothing to compare. */
export async function listCountedMerchants(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from merchants where (select counted_at from totals_progress) > 'epoch' order by id`,
  );
  return rows.map(({ id }) => id);
}
