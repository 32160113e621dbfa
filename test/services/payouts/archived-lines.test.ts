import { createPool, type Pool } from '../../../src/db/connection/pool';
import { dayInWib } from '../../../src/domain/wib';
import { getStatement } from '../../../src/services/payouts/balance';
import { listPayoutLines } from '../../../src/services/payouts/payouts';
import { archiveRow } from '../../support/archive-row';
import { applyPayout, createTestPayouts, type TestPayouts } from '../../support/payouts';

let payouts: TestPayouts;
/** As the pages read. */
let dashboard: Pool;

beforeAll(async () => {
  payouts = await createTestPayouts();
  dashboard = createPool(payouts.database.urlOf('lunas_local_dashboard'), { max: 1 });
});
afterAll(async () => {
  await dashboard.end();
  await payouts.close();
});

it('the lines of a statement and of a payout name a payment that is in the archive', async () => {
  const { db, merchantId } = payouts;
  const { paymentId, referenceId } = await archiveRow(db, merchantId, '2026-01-30');
  await db.query(
    `insert into balance_transactions (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
     values (1e9, $1, 'settlement', 100000, $2, now(), $3)`,
    [merchantId, paymentId, dayInWib(new Date())],
  );
  const payout = await applyPayout(payouts, []);
  const { lines } = await getStatement(dashboard, merchantId, dayInWib(new Date()), { limit: 10 });
  const shown = new Map(lines.map(({ kind, referenceId: reference }) => [kind, reference]));
  expect(Object.fromEntries(shown)).toEqual({ settlement: referenceId, payout: payout.referenceId });
  const paid = await listPayoutLines(dashboard, merchantId, payout.payoutId, { after: 0, limit: 10 });
  expect(paid.map((line) => line.referenceId)).toEqual([referenceId]);
});
