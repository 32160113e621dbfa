import { createPool, type Pool } from '../../../src/db/connection/pool';
import { readLedgerHorizon } from '../../../src/db/ledger/ledger-verifications';
import { createTestDatabase, type TestDatabase } from '../../support/database';

let database: TestDatabase;
let db: Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 4 });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

it('the horizon of a verification waits for the newest transaction too, which may still book', async () => {
  const order: string[] = [];
  const client = await db.connect();
  try {
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    const horizon = readLedgerHorizon(db).finally(() => order.push('horizon'));
    // Far longer than the statements of the horizon, unless it waits.
    await db.query('select pg_sleep(0.5)');
    order.push('commit');
    await client.query('commit');
    expect((await horizon).isDecided).toBe(true);
  } finally {
    client.release(true);
  }
  expect(order).toEqual(['commit', 'horizon']);
});
