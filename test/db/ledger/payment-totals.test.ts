import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type { Pool } from '../../../src/db/connection/pool';
import { countTotals, findTotalDifferences, recomputeNext } from '../../../src/db/ledger/payment-totals';
import { eventually } from '../../support/eventually';
import { createTestLedger, type TestLedger } from '../../support/payments';
import { seedPayments } from '../../support/seed-payments';

let ledger: TestLedger;
let db: Pool;
beforeEach(async () => {
  ledger = await createTestLedger();
  ({ db } = ledger);
});
afterEach(() => ledger.close());

const STATUSES = ['pending', 'paid', 'settled', 'expired', 'refunded'] as const;

/** New payments. */
async function create(count: number, merchantId = ledger.merchantId): Promise<void> {
  const from = new Date(Date.now() - 3 * 86_400_000).toISOString();
  await seedPayments(db, merchantId, { count, from, rareOneIn: 3, sameReference: 3 });
  await db.query(
    `update payments set status = 'created', created_at = created_at + random() * interval '3 days'
     where not exists (select from payment_transitions where payment_id = id)`,
  );
  await db.query(
    `insert into payment_transitions (payment_id, version, name, to_status, occurred_at, actor)
     select id, 1, 'create', 'created', created_at, 'workflow' from payments
     where not exists (select from payment_transitions where payment_id = id)`,
  );
}

interface Move {
  readonly status: string;
  /** Moves the payments whose number has this remainder. */
  readonly remainder: number;
  /** By the clock of PostgreSQL. */
  readonly recordedAt?: Date;
}

async function move({ status, remainder, recordedAt = new Date() }: Move, on: Pick<Pool, 'query'> = db): Promise<void> {
  await on.query(
    `with moved as (
       select id, status, version from payments where abs(hashtext(id::text)) % 3 = $2 and status <> $1
     ), changed as (
       update payments set status = $1, version = payments.version + 1 from moved where moved.id = payments.id
     )
     insert into payment_transitions
       (payment_id, version, name, from_status, to_status, occurred_at, actor, recorded_at)
     select id, version + 1, 'pay', status, $1, now(), 'workflow', $3 from moved`,
    [status, remainder, recordedAt],
  );
}

function secondsAgo(seconds: number): Date {
  return new Date(Date.now() - seconds * 1_000);
}

/** The payments and the sums that a page of this zone would show for each day. */
async function sums(table: 'payments' | 'payment_hour_totals', zone: string) {
  const [at, count] = table === 'payments' ? ['created_at', 'count(*)'] : ['hour', 'sum(payments)'];
  const { rows } = await db.query(
    `select (${at} at time zone $1)::date::text as day, merchant_id, status, provider, ${count}::integer as payments,
       sum(total_rupiah)::bigint as total, sum(net_rupiah)::bigint as net
     from ${table} group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
    [zone],
  );
  return rows;
}

async function expectSameAsPayments(): Promise<void> {
  for (const zone of ['Asia/Jakarta', 'Asia/Makassar', 'Asia/Jayapura'])
    expect(await sums('payment_hour_totals', zone)).toEqual(await sums('payments', zone));
}

/** Counts. Transactions of other databases of the server hold it too, so it is repeated until they have ended. */
async function count(): Promise<void> {
  await eventually(
    () => countTotals(db),
    (outcome) => outcome === 'complete',
  );
}

it('totals are those of the payments after any transitions and counts', async () => {
  const step = fc.oneof(
    fc.record({ status: fc.constantFrom(...STATUSES), remainder: fc.nat(2) }),
    fc.constant('count' as const),
    fc.constant('create' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const merchantId = randomUUID();
      await db.query("insert into merchants (id, name, status) values ($1, 'Toko', 'approved')", [merchantId]);
      await create(12, merchantId);
      for (const each of steps) {
        if (each === 'create') await create(12, merchantId);
        else if (each === 'count') await count();
        else await move(each);
        expect(await findTotalDifferences(db, merchantId)).toEqual([]);
      }
      await count();
      await expectSameAsPayments();
    }),
    { numRuns: 15 },
  );
}, 90_000);

it('counts a transition once, also if the clock of PostgreSQL went back', async () => {
  await create(30);
  await count();
  await move({ status: 'pending', remainder: 1, recordedAt: secondsAgo(-3_600) });
  await count();
  await move({ status: 'paid', remainder: 1, recordedAt: secondsAgo(3_600) });
  // What is not counted yet is no difference.
  expect(await findTotalDifferences(db, ledger.merchantId)).toEqual([]);
  await count();
  await expectSameAsPayments();
});

it('waits for a transaction that has not committed', async () => {
  await create(30);
  const open = await db.connect();
  try {
    await open.query('begin');
    await move({ status: 'paid', remainder: 1 }, open);
    expect(await countTotals(db)).toBe('held');
    expect(await sums('payment_hour_totals', 'UTC')).toEqual([]);
    await open.query('commit');
  } finally {
    open.release(true);
  }
  await count();
  await expectSameAsPayments();
});

it('one of several workers counts, and a killed count leaves nothing', async () => {
  await create(30);
  const killed = await db.connect();
  killed.on('error', () => undefined);
  try {
    await killed.query('begin');
    await killed.query('select from totals_progress for update');
    expect(['held', 'busy']).toContain(await countTotals(db));
    expect(await sums('payment_hour_totals', 'UTC')).toEqual([]);
    const { rows } = await killed.query<{ pid: number }>('select pg_backend_pid() as pid');
    await db.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  } finally {
    killed.release(true);
  }
  await Promise.all([count(), count(), count()]);
  await expectSameAsPayments();
});

it('the nightly pass corrects what is wrong, once a night, and leaves archived days', async () => {
  await create(30);
  await count();
  await db.query('update payment_hour_totals set payments = payments + 1, total_rupiah = total_rupiah + 1');
  const { rows: wrong } = await db.query('select from payment_hour_totals');
  expect((await findTotalDifferences(db, ledger.merchantId)).length).toBe(wrong.length);
  expect(await recomputeNext(db)).toEqual({ isDone: false, corrections: wrong.length });
  expect(await recomputeNext(db)).toEqual({ isDone: true });
  await expectSameAsPayments();
  expect(await recomputeNext(db)).toEqual({ isDone: true });

  const before = await sums('payment_hour_totals', 'UTC');
  await db.query(
    `insert into archive_files (day, completed_at, sha256, path, removal_began_at)
     select distinct (created_at at time zone 'UTC')::date, now(), sha256(''), '/archive', now() from payments`,
  );
  await deletePayments();
  expect(await findTotalDifferences(db, ledger.merchantId)).toEqual([]);
  await db.query("update totals_progress set recomputed_on = 'epoch'");
  expect(await recomputeNext(db)).toEqual({ isDone: false, corrections: 0 });
  expect(await sums('payment_hour_totals', 'UTC')).toEqual(before);
});

it('the nightly pass recomputes a merchant of many payments in parts, and then the next one', async () => {
  const other = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
  await db.query("insert into merchants (id, name, status) values ($1, 'Toko', 'approved')", [other]);
  await create(200);
  await create(3, other);
  await count();
  await db.query('update payment_hour_totals set payments = payments + 1');
  const { rows: wrong } = await db.query('select from payment_hour_totals');
  const corrections: number[] = [];
  const stepAll = async () => {
    for (let step = await recomputeNext(db, 20); !step.isDone; step = await recomputeNext(db, 20))
      corrections.push(step.corrections);
  };
  await stepAll();
  // 200 payments in 72 hours, at most about 20 in each step.
  expect(corrections.length).toBeGreaterThan(10);
  expect(Math.max(...corrections)).toBeLessThanOrEqual(30);
  expect(corrections.reduce((sum, each) => sum + each, 0)).toBe(wrong.length);
  await expectSameAsPayments();
});

it('a part of the nightly pass is at least an hour', async () => {
  await create(30);
  await db.query("update payments set created_at = date_trunc('hour', now()) - interval '5 hours'");
  await count();
  await db.query('update payment_hour_totals set payments = payments + 1');
  let steps = 0;
  for (let step = await recomputeNext(db, 3); !step.isDone; step = await recomputeNext(db, 3)) steps += 1;
  expect(steps).toBeLessThanOrEqual(3);
  await expectSameAsPayments();
});

/** Without the triggers that keep history. */
async function deletePayments(): Promise<void> {
  const client = await db.connect();
  try {
    await client.query('set session_replication_role = replica');
    await client.query('delete from payment_transitions');
    await client.query('delete from payments');
  } finally {
    client.release(true);
  }
}
