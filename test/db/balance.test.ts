import { randomUUID } from 'node:crypto';
import { closeNextDay, endDays } from '../../src/db/ledger/balance-days';
import { findClosedDayDifferences, findOpenDayDifferences } from '../../src/db/ledger/balance-verification';
import { applyTransitions } from '../services/ledger/transition-path';
import { closeDaysUntil, countLines } from '../support/close-days';
import { eventually } from '../support/eventually';
import { createTestLedger, type TestLedger } from '../support/payments';

const SETTLED = ['issue', 'pay', 'settle'] as const;
const REFUNDED = ['issue', 'pay', 'request_refund', 'submit_refund', 'confirm_refund'] as const;

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

/** Adds a merchant, so that each test has a balance of its own. */
async function newMerchant(): Promise<string> {
  const id = randomUUID();
  await ledger.db.query("insert into merchants (id, name, status) values ($1, 'Toko', 'approved')", [id]);
  return id;
}

async function linesOf(merchantId: string) {
  const { rows } = await ledger.db.query<Record<string, unknown>>(
    `select kind, line.amount_rupiah, line.payment_id, line.occurred_at, line.payout_id,
       booked_on = booking_day(recorded_at) as is_day_of_record
     from balance_transactions line join ledger_postings posting on posting.id = posting_id
     join payment_transitions transition
       on transition.payment_id = posting.payment_id and transition.version = payment_version
     where line.merchant_id = $1 order by posting_id`,
    [merchantId],
  );
  return rows;
}

/** A line as the trigger writes it, on any day. Only the owner of the tables can insert one. */
async function insertLine(merchantId: string, day: string, amountRupiah: number): Promise<void> {
  await ledger.db.query(INSERT_LINE, [merchantId, day, amountRupiah]);
}

const INSERT_LINE = `insert into balance_transactions
    (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
  values (nextval('ledger_postings_id_seq'), $1, 'settlement', $3, gen_random_uuid(), now(), $2)`;

async function daysOf(merchantId: string) {
  const { rows } = await ledger.db.query<Record<string, unknown>>(
    `select day::text, closing_rupiah, credit_rupiah, debit_rupiah, line_count
     from balance_days where merchant_id = $1 order by day`,
    [merchantId],
  );
  return rows;
}

/** Closes the days that are over. @returns how many these were */
async function closeDays(today = '2999-01-01'): Promise<number> {
  await endDays(ledger.db, today);
  let closed = 0;
  while ((await closeNextDay(ledger.db)) !== null) closed += 1;
  return closed;
}

describe('the lines of the balance', () => {
  it('each entry of the available balance is one line, by the booking day and not the business timestamp', async () => {
    const merchantId = await newMerchant();
    const settled = await applyTransitions(ledger, SETTLED, { merchantId });
    const refunded = await applyTransitions(ledger, REFUNDED, { merchantId });
    await applyTransitions(ledger, ['issue', 'pay'], { merchantId });
    expect(await linesOf(merchantId)).toEqual([
      {
        kind: 'settlement',
        amount_rupiah: 49_650,
        payment_id: settled.terms.paymentId,
        occurred_at: new Date('2026-11-21T08:00:03.000Z'),
        is_day_of_record: true,
        payout_id: null,
      },
      {
        kind: 'refund_fee',
        amount_rupiah: -350,
        payment_id: refunded.terms.paymentId,
        occurred_at: new Date('2026-11-21T08:00:05.000Z'),
        is_day_of_record: true,
        payout_id: null,
      },
    ]);
  });

  it('a refund without a fee has no line in the balance', async () => {
    const merchantId = await newMerchant();
    await applyTransitions(ledger, REFUNDED, { merchantId, feeRupiah: 0, netRupiah: 50_000 });
    expect(await linesOf(merchantId)).toEqual([]);
  });

  it('the balance has all its lines after many concurrent settlements of one merchant', async () => {
    const merchantId = await newMerchant();
    await Promise.all(Array.from({ length: 40 }, () => applyTransitions(ledger, SETTLED, { merchantId })));
    const { rows } = await ledger.db.query(
      `select count(*)::integer as lines, sum(line.amount_rupiah)::bigint as rupiah
       from balance_transactions line join ledger_entries entry using (posting_id)
       where line.merchant_id = $1 and entry.account = 'merchant_available'
         and entry.amount_rupiah = line.amount_rupiah`,
      [merchantId],
    );
    expect(rows).toEqual([{ lines: 40, rupiah: 40 * 49_650 }]);
  });

  it.each([
    ['2026-11-24T16:59:59.999Z', '2026-11-24'],
    ['2026-11-24T17:00:00.000Z', '2026-11-25'],
    ['2026-12-31T17:00:00.000Z', '2027-01-01'],
  ])('a line recorded at %s is booked on %s, the day in WIB', async (at, day) => {
    const { rows } = await ledger.db.query('select booking_day($1)::text as day', [at]);
    expect(rows).toEqual([{ day }]);
  });

  it('attack: no posting changes a balance otherwise than its transition', async () => {
    const merchantId = await newMerchant();
    const { terms } = await applyTransitions(ledger, ['issue', 'pay'], { merchantId });
    const entries = (rupiah: number, from: string) =>
      `insert into ledger_entries select id, number, account, side, ${rupiah} from ${from},
       (values (11, 'provider_receivable', 'debit'), (12, 'merchant_available', 'credit'))
         line (number, account, side)`;
    const book = (column: string, value: string, rupiah = 49_650, merchant = merchantId) =>
      ledger.db.query(
        `with posting as (
           insert into ledger_postings (payment_id, merchant_id, occurred_at, ${column})
           values ($1, $2, now(), ${value}) returning id
         ) ${entries(rupiah, 'posting')}`,
        [terms.paymentId, merchant],
      );
    const rejection = 'changes a balance, and its transition does not';
    await expect(book('late_payment_step', "'receive'")).rejects.toThrow(rejection);
    await expect(book('payment_version', '1')).rejects.toThrow(rejection);
    const paid = '(select id from ledger_postings where payment_id = $1 and payment_version = 3) posting';
    await expect(ledger.db.query(entries(49_650, paid), [terms.paymentId])).rejects.toThrow(rejection);
    await ledger.db.query(
      `insert into payment_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor)
       values ($1, 4, 'settle', 'paid', 'settled', now(), 'workflow')`,
      [terms.paymentId],
    );
    await expect(book('payment_version', '4', 49_651)).rejects.toThrow(rejection);
    await expect(book('payment_version', '4', 49_650, await newMerchant())).rejects.toThrow(rejection);
    expect(await linesOf(merchantId)).toEqual([]);
    await book('payment_version', '4');
    expect(await linesOf(merchantId)).toMatchObject([{ kind: 'settlement', amount_rupiah: 49_650 }]);
  });

  it('attack: a line is confirmed once, and never changes otherwise', async () => {
    const merchantId = await newMerchant();
    await applyTransitions(ledger, SETTLED, { merchantId });
    const update = (change: string) =>
      ledger.db.query(`update balance_transactions set ${change} where merchant_id = $1`, [merchantId]);
    const forbidden = [
      'amount_rupiah = amount_rupiah + 1',
      `merchant_id = '${randomUUID()}'`,
      "kind = 'refund_fee'",
      'payment_id = gen_random_uuid()',
      'booked_on = booked_on + 1',
      "occurred_at = occurred_at + interval '1 hour'",
      'posting_id = posting_id + 1000000',
    ];
    for (const change of forbidden) await expect(update(change)).rejects.toThrow('append-only');
    await update('confirmed_at = now()');
    await expect(update("confirmed_at = now() + interval '1 day'")).rejects.toThrow('append-only');
    const remove = ledger.db.query('delete from balance_transactions where merchant_id = $1', [merchantId]);
    await expect(remove).rejects.toThrow('append-only');
    await expect(ledger.db.query('truncate balance_transactions')).rejects.toThrow('append-only');
  });
});

describe('the close of days', () => {
  it('writes opening and closing of each day with lines, once, and leaves the open day', async () => {
    const [one, other] = [await newMerchant(), await newMerchant()];
    await insertLine(one, '2025-01-02', 1_000);
    await insertLine(one, '2025-01-02', -300);
    await insertLine(other, '2025-01-03', 5_000);
    await countLines(ledger.db);
    // Not counted yet.
    await insertLine(one, '2025-01-02', 20);
    await insertLine(one, '2025-01-06', -900);
    await applyTransitions(ledger, SETTLED, { merchantId: one });
    // The clock of PostgreSQL is ahead of the caller's.
    expect(await closeDays('2025-01-06')).toBe(4);
    expect(await daysOf(one)).toMatchObject([{ day: '2025-01-02' }]);
    expect(await closeDays()).toBeGreaterThan(300);
    await countLines(ledger.db);
    expect(await daysOf(one)).toEqual([
      { day: '2025-01-02', closing_rupiah: 720, credit_rupiah: 1_020, debit_rupiah: 300, line_count: 3 },
      { day: '2025-01-06', closing_rupiah: -180, credit_rupiah: 0, debit_rupiah: 900, line_count: 1 },
    ]);
    expect(await daysOf(other)).toMatchObject([{ day: '2025-01-03', closing_rupiah: 5_000 }]);
    const { rows } = await ledger.db.query(
      `select min(day)::text as first, max(day) < booking_day(now()) as are_over,
         count(*) = max(day) - min(day) + 1 as have_no_gap
       from closed_days`,
    );
    expect(rows).toEqual([{ first: '2025-01-02', are_over: true, have_no_gap: true }]);
    expect(await closeDays()).toBe(0);
    expect(await findClosedDayDifferences(ledger.db, 10)).toEqual([]);
    expect(await findOpenDayDifferences(ledger.db, 10)).toEqual([]);
  });

  it('attack: closed days and their balances never change', async () => {
    for (const table of ['ended_days', 'closed_days', 'balance_days']) {
      await expect(ledger.db.query(`update ${table} set day = day - 1`)).rejects.toThrow('append-only');
      await expect(ledger.db.query(`delete from ${table}`)).rejects.toThrow('append-only');
      await expect(ledger.db.query(`truncate ${table} cascade`)).rejects.toThrow('append-only');
    }
  });

  it('a line is booked on the first day that is open, also if the clock is behind', async () => {
    const merchantId = await newMerchant();
    await applyTransitions(ledger, SETTLED, { merchantId });
    await closeDaysUntil(ledger.db, 'booking_day(now()) + 3');
    await applyTransitions(ledger, SETTLED, { merchantId });
    const { rows } = await ledger.db.query(
      `select booked_on - (select max(day) from closed_days) as days_after from balance_transactions
       where merchant_id = $1 order by posting_id`,
      [merchantId],
    );
    expect(rows).toEqual([{ days_after: expect.any(Number) }, { days_after: 1 }]);
    expect(await daysOf(merchantId)).toMatchObject([{ closing_rupiah: 49_650, line_count: 1 }]);
    expect(await closeDays()).toBe(0);
  });
});

/** Waits until a session waits for the lock of the lines. */
async function waitForLock(): Promise<void> {
  await eventually(
    () => ledger.db.query("select from pg_locks where relation = 'balance_transactions'::regclass and not granted"),
    ({ rowCount }) => rowCount === 1,
  );
}

describe('a settlement and the end of its day at the same time', () => {
  const END_NEXT = 'select end_days_until((select max(day) + 1 from ended_days))';

  it('the end of the day waits for a line that is not committed, and its sums have it', async () => {
    const merchantId = await newMerchant();
    const client = await ledger.db.connect();
    try {
      await client.query('begin');
      const context = { ...ledger.context, db: client };
      await applyTransitions({ ...ledger, context }, SETTLED, { merchantId });
      await expect(ledger.db.query(END_NEXT)).rejects.toMatchObject({ code: '55P03' });
      await client.query('commit');
    } finally {
      client.release();
    }
    await ledger.db.query(END_NEXT);
    await closeDays();
    expect(await daysOf(merchantId)).toMatchObject([{ closing_rupiah: 49_650, line_count: 1 }]);
  });

  it('a line that waits for the end of the day is booked on the next day', async () => {
    const merchantId = await newMerchant();
    // The connection of the settlement has planned the trigger's statement before.
    const settling = await ledger.db.connect();
    const closing = await ledger.db.connect();
    try {
      const context = { ...ledger.context, db: settling };
      for (const _ of Array.from({ length: 10 })) {
        await applyTransitions({ ...ledger, context }, SETTLED, { merchantId });
      }
      await closing.query('begin');
      await closing.query(END_NEXT);
      const settled = applyTransitions({ ...ledger, context }, SETTLED, { merchantId });
      await waitForLock();
      await closing.query('commit');
      await settled;
      await closeDays();
    } finally {
      settling.release();
      closing.release();
    }
    const { rows } = await ledger.db.query(
      `select booked_on - (select max(day) from closed_days) as days_after, count(*)::integer as lines
       from balance_transactions where merchant_id = $1 group by booked_on order by booked_on`,
      [merchantId],
    );
    expect(rows).toEqual([
      { days_after: 0, lines: 10 },
      { days_after: 1, lines: 1 },
    ]);
    expect(await daysOf(merchantId)).toMatchObject([{ closing_rupiah: 10 * 49_650, line_count: 10 }]);
  });
});
