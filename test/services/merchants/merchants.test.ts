import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { changeMerchant, insertMerchant, listMerchants } from '../../../src/services/merchants/merchants';
import { createTestDatabase, type TestDatabase } from '../../support/database';

let database: TestDatabase;
let db: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url);
});

afterAll(async () => {
  await db.end();
  await database.drop();
});

const toko = { name: 'Toko Maju', feePayer: 'merchant', providers: ['gopay'], approve: false } as const;

it('registers a merchant as pending', async () => {
  const merchant = await insertMerchant(db, toko);
  expect(merchant).toMatchObject({
    name: 'Toko Maju',
    status: 'pending',
    feePayer: 'merchant',
    paymentMethod: 'active',
  });
  expect((await changeMerchant(db, merchant.id, { status: 'approved' })).status).toBe('approved');
  expect((await changeMerchant(db, merchant.id, { status: 'suspended' })).status).toBe('suspended');
});

it('registers an approved merchant, each provider once', async () => {
  const merchant = await insertMerchant(db, { ...toko, providers: ['shopeepay', 'gopay', 'gopay'], approve: true });
  expect(merchant).toMatchObject({ status: 'approved', providers: ['shopeepay', 'gopay'] });
});

it('changes only the given fields', async () => {
  const before = await insertMerchant(db, { ...toko, approve: true });
  const inactive = await changeMerchant(db, before.id, { paymentMethod: 'inactive' });
  expect(inactive).toEqual({ ...before, paymentMethod: 'inactive' });
  const other = await changeMerchant(db, before.id, { feePayer: 'buyer', providers: ['shopeepay'] });
  expect(other).toEqual({ ...inactive, feePayer: 'buyer', providers: ['shopeepay'] });
  expect(await changeMerchant(db, before.id, { paymentMethod: 'active' })).toMatchObject({ paymentMethod: 'active' });
});

it('lists merchants in the order of their creation', async () => {
  const created = [await insertMerchant(db, toko), await insertMerchant(db, toko)];
  expect((await listMerchants(db)).slice(-2)).toEqual(created);
});

it('rejects an unknown merchant, and names it', async () => {
  const unknownId = randomUUID();
  await expect(changeMerchant(db, unknownId, { status: 'approved' })).rejects.toThrow(
    `There is no merchant ${unknownId}`,
  );
});
