import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { listSealingKeyIds } from '../../../src/db/operations/list-sealing-key-ids';
import { resealAll } from '../../../src/services/recovery/reseal';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

const ROWS = 1_200;
const newKey = () => randomBytes(32).toString('base64');

let database: TestDatabase;
let db: Pool;
beforeEach(async () => {
  database = await createTestDatabase();
  db = createPool(database.url);
});
afterEach(async () => {
  await db.end();
  await database.drop();
});

const ignore = () => undefined;

it('continues after it was stopped, and leaves every value readable with the new key alone', async () => {
  const [oldKey, key] = [newKey(), newKey()];
  const [old, both, current] = [createSealer(oldKey), createSealer(key, [oldKey]), createSealer(key)];
  const ids = Array.from({ length: ROWS }, () => randomUUID());
  await db.query(
    `insert into payment_details (payment_id, fingerprint, sealed)
     select id, 'f', sealed from unnest($1::uuid[], $2::text[]) as new (id, sealed)`,
    [ids, ids.map((id) => old.seal(id, ['payment-details', id]))],
  );
  const stop = () => {
    throw new Error('stopped');
  };
  await expect(resealAll(db, both, stop)).rejects.toThrow('stopped');
  expect(await listSealingKeyIds(db)).toEqual([old.keys.current.id, current.keys.current.id].sort());

  expect(await resealAll(db, both, ignore)).toContainEqual({ table: 'payment_details', resealed: ROWS - 500 });
  expect(await listSealingKeyIds(db)).toEqual([current.keys.current.id]);
  const { rows } = await db.query<{ id: string; sealed: string }>(
    'select payment_id as id, sealed from payment_details',
  );
  expect(rows.every(({ id, sealed }) => current.open(sealed, ['payment-details', id]) === id)).toBe(true);
});

it('a master key that was replaced is not used again', async () => {
  const [first, second] = [newKey(), newKey()];
  await resealAll(db, createSealer(second, [first]), ignore);
  const back = resealAll(db, createSealer(first, [second]), ignore);
  await expect(back).rejects.toThrow('was replaced before. Make a new one.');
});

it('three master keys: what a process sealed with the first one after the second is sealed again', async () => {
  const [first, second, third] = [newKey(), newKey(), newKey()];
  await resealAll(db, createSealer(second, [first]), ignore);
  const id = randomUUID();
  await db.query("insert into payment_details (payment_id, fingerprint, sealed) values ($1, 'f', $2)", [
    id,
    createSealer(first).seal('late', ['payment-details', id]),
  ]);
  const sealer = createSealer(third, [second, first]);
  await resealAll(db, sealer, ignore);
  expect(await listSealingKeyIds(db)).toEqual([sealer.keys.current.id]);
});

it('a value that changed meanwhile is not overwritten', async () => {
  const [oldKey, key] = [newKey(), newKey()];
  const [old, both] = [createSealer(oldKey), createSealer(key, [oldKey])];
  const id = randomUUID();
  const insert = "insert into payment_details (payment_id, fingerprint, sealed) values ($1, 'f', $2)";
  await db.query(insert, [id, old.seal('before', ['payment-details', id])]);
  const writer = await db.connect();
  await writer.query('begin');
  // Erased and written again by a repeat of the request.
  await writer.query('delete from payment_details');
  await writer.query(insert, [id, old.seal('after', ['payment-details', id])]);
  const resealed = resealAll(db, both, ignore);
  await eventually(
    () => db.query("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"),
    ({ rowCount }) => rowCount === 1,
  );
  await writer.query('commit');
  writer.release();
  await resealed;
  const { rows } = await db.query<{ sealed: string }>('select sealed from payment_details');
  expect(both.open(rows[0]?.sealed ?? '', ['payment-details', id])).toBe('after');
  expect(await listSealingKeyIds(db)).toEqual([both.keys.current.id]);
});
