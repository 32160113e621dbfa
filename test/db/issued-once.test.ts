import { createPool, type Pool } from '../../src/db/connection/pool';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { createShop } from '../support/people';
import { seedPayments } from '../support/seed-payments';

let database: TestDatabase;
let owner: Pool;
let worker: Pool;
let paymentId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 1 });
  worker = createPool(database.urlOf('lunas_local_worker'), { max: 1 });
  const { id } = await createShop(owner);
  await seedPayments(owner, id, { count: 3, from: '2026-11-26T00:00:00Z', rareOneIn: 3, sameReference: 1 });
  const { rows } = await owner.query<{ id: string }>("select id from payments where status = 'created'");
  paymentId = rows[0]?.id ?? '';
});
afterAll(async () => {
  await Promise.all([owner.end(), worker.end()]);
  await database.drop();
});

describe.each(['qris_payload', 'provider_transaction_id'])('%s', (column) => {
  const set = (db: Pool, value: string | null) =>
    db.query(`update payments set ${column} = $2 where id = $1`, [paymentId, value]);

  it('the issued value is written once, also by the worker and by the owner of the tables', async () => {
    await set(worker, 'as the provider returned it');
    await set(worker, 'as the provider returned it');
    for (const db of [worker, owner]) {
      await expect(set(db, 'of a thief')).rejects.toMatchObject({ code: '23001' });
      await expect(set(db, null)).rejects.toMatchObject({ code: '23001' });
    }
    const { rows } = await owner.query(`select ${column} as value from payments where id = $1`, [paymentId]);
    expect(rows).toEqual([{ value: 'as the provider returned it' }]);
  });
});
