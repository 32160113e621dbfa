import { createPool, type Pool } from '../../../src/db/connection/pool';
import { closeNextDay, endDays } from '../../../src/db/ledger/balance-days';
import { findClosedDayDifferences, findNewlyClosedDayDifferences } from '../../../src/db/ledger/balance-verification';
import { asSuperuser } from '../../support/backdate';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { explainQueries } from '../../support/explain';
import { bySize } from '../../support/size';
import { withoutIndexes } from '../../support/without-indexes';

const MAX_BUFFERS = 5_000;
const MERCHANTS = 200;
/** The table has more pages than a statement may read. */
const LINES = bySize({ small: 400_000, full: 30_000_000 });
const DAYS = 40;
const UNCOUNTED = 300;
const TIMEOUT_MS = 3_600_000;

let database: TestDatabase;
let db: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 4, statementTimeoutMs: TIMEOUT_MS });
  await db.query(
    `insert into merchants (id, name, status) select md5('merchant' || n)::uuid, 'Toko', 'approved'
     from generate_series(1, ${MERCHANTS}) n`,
  );
}, TIMEOUT_MS);
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** As many lines on each day until today, all but the newest counted, and closed until the day before yesterday. */
const BALANCES = [
  `insert into balance_transactions (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
   select n, md5('merchant' || 1 + n % ${MERCHANTS})::uuid, 'settlement', 1 + n % 7, md5('payment' || n)::uuid, now(),
     booking_day(now()) - ${DAYS} + ((n - 1) * ${DAYS + 1} / ${LINES})::integer
   from generate_series(1::bigint, ${LINES}) n`,
  // A day ends 25 minutes after midnight.
  "insert into closed_days (day) select booking_day(now() - interval '25 minutes') - n from generate_series(2, 40) n",
  'insert into ended_days (day) select max(day) from closed_days',
  `insert into balance_days (merchant_id, day, closing_rupiah, credit_rupiah, debit_rupiah, line_count)
   select merchant_id, booked_on, sum(sum(amount_rupiah)) over (partition by merchant_id order by booked_on),
     sum(amount_rupiah), 0, count(*)
   from balance_transactions join closed_days on day = booked_on group by merchant_id, booked_on`,
  `insert into open_balance_days (merchant_id, day, credit_rupiah, debit_rupiah, line_count)
   select merchant_id, booked_on, sum(amount_rupiah), 0, count(*) from balance_transactions
   where booked_on > (select max(day) from closed_days) and posting_id <= ${LINES - UNCOUNTED}
   group by merchant_id, booked_on`,
  `update totals_progress set line_posting_id = ${LINES - UNCOUNTED}`,
] as const;

it(
  `a day ends and is closed with few buffers beside ${LINES} lines, whatever was claimed when`,
  async () => {
    await withoutIndexes(db, ['balance_transactions'], async (client) => {
      for (const statement of BALANCES) await client.query(statement);
    });
    // A claim moves the line to another page: the pages of each day are then all over the table.
    await asSuperuser(db, 'update balance_transactions set payout_id = payment_id where posting_id % 20 = 0');
    await db.query('vacuum analyze balance_transactions');
    const startedAt = new Date();
    const { db: explaining, explained } = explainQueries(db);
    await endDays(explaining, '2999-01-01');
    expect(await closeNextDay(explaining)).not.toBeNull();
    const read = explained.map(({ statement, buffers }) => ({ statement, buffers }));
    console.info(read.map(({ statement, buffers }) => `${buffers}\t${statement}`).join('\n'));
    expect(read.map(({ statement }) => statement)).toEqual(expect.arrayContaining(['end_days', 'close_next_day']));
    expect(read.filter(({ buffers }) => buffers >= MAX_BUFFERS)).toEqual([]);
    expect(await findNewlyClosedDayDifferences(db, startedAt, 10)).toEqual([]);
    expect(await findClosedDayDifferences(db, 10)).toEqual([]);
  },
  TIMEOUT_MS,
);
