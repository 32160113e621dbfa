import { randomUUID } from 'node:crypto';
import { createSecretKey, parseOperatorKey, parseSecretKey } from '../../../src/crypto/secret-key';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { findOperator, insertOperator, listOperators } from '../../../src/services/identity/operators';
import { revokeOperator } from '../../../src/services/identity/revoke-operator';
import { osUser } from '../../support/actors';
import { createTestDatabase, type TestDatabase } from '../../support/database';

const UNKNOWN_ID = '0193e5c0-0000-7000-8000-000000000000';

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

/** As the API looks a key up. */
async function holderOf(secret: string) {
  const parsed = parseOperatorKey(secret, 'sandbox');
  return parsed && findOperator(db, parsed.secretSha256, '203.0.113.7');
}

/** Revokes a key as an operator does. @returns when it ended */
async function revoke(operator: string): Promise<Date | null> {
  const call = { path: { operator }, input: {}, formId: randomUUID() };
  const result = await revokeOperator.run({ db }, osUser('root'), call);
  if (result.outcome !== 'done') throw new Error(`The revocation is ${result.outcome}`);
  return result.value.revokedAt;
}

it('creates a key that authenticates its operator, and stores and lists no secret', async () => {
  const { secret, ...operator } = await insertOperator(db, { name: 'dewi', environment: 'sandbox' });
  expect(secret).toMatch(/^op_test_00[0-9A-Za-z]{39}$/);
  expect(await holderOf(secret)).toEqual({ id: operator.id, name: 'dewi', scopes: null, addressAllowed: true });
  expect(await listOperators(db)).toEqual([operator]);
  expect(operator.masked).toBe(`op_test_…${secret.slice(-4)}`);
  const { rows } = await db.query<{ text: string }>('select operators::text as text from operators');
  expect(rows.map(({ text }) => text).join()).not.toContain(secret.slice('op_test_'.length, -4));
});

it('revokes a key permanently, and once', async () => {
  const { id, secret } = await insertOperator(db, { name: 'budi', environment: 'production' });
  expect(secret).toMatch(/^op_live_/);
  const revokedAt = await revoke(id);
  expect(revokedAt).toEqual(expect.any(Date));
  expect(await holderOf(secret)).toBeUndefined();
  expect(await revoke(id)).toEqual(revokedAt);
  await expect(revoke(UNKNOWN_ID)).rejects.toThrow(`There is no operator ${UNKNOWN_ID}`);
});

it('rejects a second operator with the same name, which the audit log could not distinguish', async () => {
  const first = await insertOperator(db, { name: 'sari', environment: 'sandbox' });
  await expect(insertOperator(db, { name: 'sari', environment: 'sandbox' })).rejects.toThrow(
    'There is an operator sari already',
  );
  await revoke(first.id);
  const second = await insertOperator(db, { name: 'sari', environment: 'sandbox' });
  expect(second.id).not.toBe(first.id);
  expect(await holderOf(first.secret)).toBeUndefined();
  expect(await holderOf(second.secret)).toMatchObject({ name: 'sari' });
});

it('rejects a merchant’s key as an operator’s, and an operator’s as a merchant’s', async () => {
  const merchant = createSecretKey('sandbox', '00').secret;
  const { secret } = await insertOperator(db, { name: 'rina', environment: 'sandbox' });
  expect([parseOperatorKey(merchant, 'sandbox'), parseSecretKey(secret, 'sandbox')]).toEqual([undefined, undefined]);
  expect([parseOperatorKey(secret, 'sandbox'), parseSecretKey(merchant, 'sandbox')]).not.toContain(undefined);
  expect(parseOperatorKey(`${secret.slice(0, -1)}!`, 'sandbox')).toBeUndefined();
  expect(parseOperatorKey(secret, 'production')).toBeUndefined();
  expect(parseOperatorKey(secret.replace('op_test_', 'op_live_'), 'production')).toBeUndefined();
});
