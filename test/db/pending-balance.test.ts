import { createPool, type Pool } from '../../src/db/connection/pool';
import { getBalance } from '../../src/db/ledger/get-balance';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { explainQueries } from '../support/explain';
import { fillMerchant } from '../support/fill-merchant';
import { createShop } from '../support/people';
import { fillTotals, insertCatalog } from '../support/seed-payments';

const PAYMENTS = 10_000;

let database: TestDatabase;
let db: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 2 });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

it('the pending balance reads only the payments that changed since the totals, of many', async () => {
  const { id: merchantId } = await createShop(db);
  const [policyId, accountId] = await insertCatalog(db);
  await fillMerchant(db, { merchantId, policyId, accountId }, 1, PAYMENTS);
  await fillTotals(db, merchantId);
  await db.query('analyze payments, payment_transitions, payment_hour_totals');
  const { pendingRupiah } = await getBalance(db, merchantId);
  const { rows } = await db.query<{ net: number }>(
    `with changed as (
       select id, status, net_rupiah from payments where merchant_id = $1 and status = 'paid' limit 5
     ), recorded as (
       insert into payment_transitions
         (payment_id, version, name, from_status, to_status, occurred_at, actor, recorded_at)
       select id, 9, 'settle', status, 'settled', now(), 'workflow', now() from changed
     )
     select sum(net_rupiah)::bigint as net from changed`,
    [merchantId],
  );
  const { db: explaining, explained } = explainQueries(db);
  const changed = await getBalance(explaining, merchantId);
  expect(changed.pendingRupiah).toBe(pendingRupiah - (rows[0]?.net ?? NaN));
  expect(explained.filter(({ buffers }) => buffers > 100).map(({ plan }) => plan)).toEqual([]);
  expect(explained).toHaveLength(2);
});
