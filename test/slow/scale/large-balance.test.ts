import { createPool, type Pool } from '../../../src/db/connection/pool';
import { readPayoutBasis } from '../../../src/db/payouts/payout-basis';
import { MAX_PAYOUT_LINES, payoutWriters } from '../../../src/db/transitions/payout-transitions';
import { explainQueries } from '../../support/explain';
import { createTestPayouts, FEE_RUPIAH, newPayout, requestTime, type TestPayouts } from '../../support/payouts';
import { bySize } from '../../support/size';
import { withoutIndexes } from '../../support/without-indexes';

/** What a preview and a request read beside many unclaimed lines of one merchant. */

const LINES = bySize({ small: 100_000, full: 3_000_000 });
/** The lines of one payout take some hundred. All lines took 4,000 in the small size, and 110,000 in the full one. */
const MAX_BUFFERS = bySize({ small: 1_000, full: 5_000 });
const CLAIMED = 10;
const LINE_RUPIAH = 9_930;
const TIMEOUT_MS = 600_000;

let payouts: TestPayouts;
let pool: Pool;

beforeAll(async () => {
  payouts = await createTestPayouts();
  pool = createPool(payouts.database.urlOf('lunas_local_payouts'), { max: 2 });
  await withoutIndexes(payouts.db, ['balance_transactions'], async (client) => {
    await client.query(
      `insert into balance_transactions
         (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
       select n, $1, 'settlement', ${LINE_RUPIAH}, gen_random_uuid(), now(), current_date
       from generate_series(1, ${LINES}) n`,
      [payouts.merchantId],
    );
    await client.query('update totals_progress set line_posting_id = $1', [LINES]);
    await client.query(
      `insert into open_balance_days (merchant_id, day, credit_rupiah, debit_rupiah, line_count)
       select $1, current_date, ${LINE_RUPIAH}::bigint * ${LINES}, 0, ${LINES}`,
      [payouts.merchantId],
    );
    await client.query("select setval(pg_get_serial_sequence('ledger_postings', 'id'), $1)", [LINES]);
  });
}, TIMEOUT_MS);
afterAll(async () => {
  await pool.end();
  await payouts.close();
});

it(
  'the preview and the request read no line that they do not claim',
  async () => {
    const { db, explained } = explainQueries(pool);
    const { run, balanceRupiah, lines } = await readPayoutBasis(db, payouts.merchantId, requestTime());
    expect(balanceRupiah).toBe(LINES * LINE_RUPIAH);
    expect(run).toMatchObject({ upToPostingId: MAX_PAYOUT_LINES, grossRupiah: MAX_PAYOUT_LINES * LINE_RUPIAH });
    expect(lines).toEqual([{ kind: 'settlement', count: MAX_PAYOUT_LINES, rupiah: MAX_PAYOUT_LINES * LINE_RUPIAH }]);
    const grossRupiah = CLAIMED * LINE_RUPIAH;
    const part = { upToPostingId: CLAIMED, grossRupiah, amountRupiah: grossRupiah - FEE_RUPIAH } as const;
    const request = await newPayout(payouts, { ...part, by: { name: 'schedule' } });
    expect(await payoutWriters.request({ ...payouts.context, db }, request)).toMatchObject({ outcome: 'applied' });
    const tooMany = explained.filter(({ buffers }) => buffers > MAX_BUFFERS);
    expect(tooMany.map(({ statement, planMode, buffers, plan }) => [statement, planMode, buffers, plan])).toEqual([]);
  },
  TIMEOUT_MS,
);
