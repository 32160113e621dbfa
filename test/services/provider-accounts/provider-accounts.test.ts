import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { findCurrentPolicy } from '../../../src/db/operations/find-current-policy';
import { addAccount, listAccounts, type NewAccount } from '../../../src/services/provider-accounts/provider-accounts';
import { disableAsOperator, enableAsOperator } from '../../support/accounts';
import { createTestDatabase, type TestDatabase } from '../../support/database';

const SERVER_KEY = 'SB-Mid-server-of-the-test';
const sealer = createSealer(randomBytes(32).toString('base64'));

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

const add = (changes: Partial<NewAccount> = {}) =>
  addAccount(db, sealer, {
    provider: 'gopay',
    adapter: 'midtrans',
    serverKey: SERVER_KEY,
    weight: 1,
    environment: 'sandbox',
    ...changes,
  });

it('stores the server key sealed, and does not return it', async () => {
  const account = await add();
  const { rows } = await db.query<{ sealed: string }>('select sealed_server_key as sealed from provider_accounts');
  expect(rows[0]?.sealed).not.toContain(SERVER_KEY);
  expect(sealer.open(rows[0]?.sealed ?? '', ['provider-server-key', account.id, 'midtrans', account.baseUrl])).toBe(
    SERVER_KEY,
  );
  expect(await listAccounts(db)).toEqual([account]);
  expect(Object.values(account)).not.toContain(SERVER_KEY);
});

it("uses Midtrans' address of the environment, or the given one", async () => {
  expect((await add()).baseUrl).toBe('https://api.sandbox.midtrans.com');
  expect((await add({ environment: 'production' })).baseUrl).toBe('https://api.midtrans.com');
  expect((await add({ baseUrl: 'http://127.0.0.1:3001/' })).baseUrl).toBe('http://127.0.0.1:3001');
  await expect(add({ baseUrl: 'http://127.0.0.1:3001', environment: 'production' })).rejects.toThrow(
    'must begin with https://',
  );
});

it('an account is used for new payments until it is disabled, and again when it is enabled', async () => {
  const account = await add();
  expect(
    (await findCurrentPolicy(db, { merchantId: randomUUID(), provider: 'gopay', channel: 'qris' })).providerAccountId,
  ).toBe(account.id);
  expect(await disableAsOperator(db, account.id)).toEqual({ ...account, status: 'disabled' });
  expect(
    (await findCurrentPolicy(db, { merchantId: randomUUID(), provider: 'gopay', channel: 'qris' })).providerAccountId,
  ).toBeNull();
  expect(await enableAsOperator(db, account.id)).toEqual(account);
  expect(
    (await findCurrentPolicy(db, { merchantId: randomUUID(), provider: 'gopay', channel: 'qris' })).providerAccountId,
  ).toBe(account.id);
});

it('rejects an unknown account, and names it', async () => {
  const nothing = randomUUID();
  await expect(disableAsOperator(db, nothing)).rejects.toThrow(nothing);
});
