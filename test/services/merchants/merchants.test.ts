import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { changeMerchant, insertMerchant, listMerchants } from '../../../src/services/merchants/merchants';
import { setMerchant } from '../../../src/services/merchants/set-merchant';
import { memberOf } from '../../support/actors';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { createMember } from '../../support/people';

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

it('a change of no field changes nothing', async () => {
  const before = await insertMerchant(db, toko);
  expect(await changeMerchant(db, before.id, { contact: undefined })).toEqual(before);
  await expect(changeMerchant(db, randomUUID(), {})).rejects.toThrow('There is no merchant');
});

it.each<z.input<typeof setMerchant.input>>([{ providers: ['shopeepay'] }, { paymentMethod: 'inactive' }])(
  'attack: an owner does not set what only operators set: %j',
  async (input) => {
    const before = await insertMerchant(db, { ...toko, approve: true });
    const userId = await createMember(db, `${randomUUID()}@toko.example`, [[before.id, 'owner']]);
    const owner = memberOf({ userId, merchantId: before.id, role: 'owner' });
    const call = { path: { merchant: before.id }, input, formId: randomUUID() };
    const needs = { db, environment: 'sandbox' } as const;
    expect(await setMerchant.run(needs, owner, call)).toMatchObject({ rejection: { reason: 'operators_only' } });
    expect(await changeMerchant(db, before.id, {})).toEqual(before);
  },
);

it('attack: an owner does not set the return address of another merchant', async () => {
  const [own, other] = [await insertMerchant(db, toko), await insertMerchant(db, toko)];
  const owner = memberOf({ userId: randomUUID(), merchantId: own.id, role: 'owner' });
  const input = { returnUrl: 'https://evil.example/' };
  const call = { path: { merchant: other.id }, input, formId: randomUUID() };
  const set = setMerchant.run({ db, environment: 'sandbox' }, owner, call);
  await expect(set).rejects.toThrow('There is no merchant');
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
