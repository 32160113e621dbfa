import { createPool, type Pool } from '../../../src/db/connection/pool';
import { recomputeNext } from '../../../src/db/ledger/payment-totals';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { insertCatalog } from '../../support/seed-payments';
import { bySize } from '../../support/size';
import { withoutIndexes } from '../../support/without-indexes';

/** Payments of one merchant in the 40 days that the pass recomputes. */
const PAYMENTS = bySize({ small: 200_000, full: 10_000_000 });
const STEP_PAYMENTS = 50_000;
/** Days of the payments: the pass still recomputes all of them an hour later. */
const DAYS = 39;
const HOURS = DAYS * 24;
const TIMEOUT_MS = 3_600_000;

let database: TestDatabase;
let filling: Pool;
/** As the worker has it: a step that takes longer than its statement timeout fails. */
let db: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  filling = createPool(database.url, { max: 1, statementTimeoutMs: TIMEOUT_MS });
  db = createPool(database.url);
});
afterAll(async () => {
  await Promise.all([filling.end(), db.end()]);
  await database.drop();
});

const FILL = [
  `insert into merchants (id, name, status) select md5('merchant' || n)::uuid, 'Toko', 'approved'
   from generate_series(1, 2) n`,
  `insert into payments (id, reference_id, merchant_id, fingerprint, payment_method, provider, provider_account_id,
     amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind,
     settlement_delay_seconds, status, version, expires_at, created_at, updated_at)
   select md5('payment' || n)::uuid, 'LN' || lpad(n::text, 16, '0'), md5('merchant' || 1)::uuid, 'v1.f', 'qris',
     'gopay', account.id, 50000, 350, 50000, 49650, 'merchant', policy.id, 'automatic', 86400, 'expired', 2, at, at, at
   from (
     select n, date_trunc('hour', now() - interval '${DAYS} days', 'UTC')
       + n * (interval '${DAYS} days' / ${PAYMENTS}) as at
     from generate_series(1, ${PAYMENTS}) n
   ) numbered, (select id from provider_accounts limit 1) account, (select id from policies limit 1) policy`,
  "update totals_progress set recomputed_on = 'epoch'",
] as const;

/** Runs a pass as the workers do, which count new transitions between its steps. */
async function runPass(): Promise<{ readonly steps: number; readonly corrections: number }> {
  let [steps, corrections] = [0, 0];
  for (;;) {
    await db.query('update totals_progress set counted_at = now()');
    const step = await recomputeNext(db);
    if (step.isDone) return { steps, corrections };
    steps += 1;
    corrections += step.corrections;
  }
}

it(
  `the nightly pass ends beside a merchant of ${PAYMENTS} payments in ${DAYS} days, and the next one finds nothing`,
  async () => {
    await insertCatalog(filling);
    await withoutIndexes(filling, ['payments'], async (client) => {
      for (const statement of FILL) await client.query(statement);
    });
    const first = await runPass();
    expect(first.corrections).toBeGreaterThanOrEqual(HOURS);
    expect(first.steps).toBeGreaterThanOrEqual(PAYMENTS / STEP_PAYMENTS);
    expect(first.steps).toBeLessThan((2 * PAYMENTS) / STEP_PAYMENTS + 10);
    const { rows } = await db.query('select sum(payments)::integer as payments from payment_hour_totals');
    expect(rows).toEqual([{ payments: PAYMENTS }]);
    await db.query("update totals_progress set recomputed_on = 'epoch'");
    expect((await runPass()).corrections).toBe(0);
  },
  TIMEOUT_MS,
);
