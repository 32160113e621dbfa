import { randomUUID } from 'node:crypto';
import { parseSecretKey } from '../../../src/crypto/secret-key';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { findApiKey } from '../../../src/db/merchants/find-api-key';
import { isNetwork } from '../../../src/lib/allowed-networks';
import { findKey, listKeys } from '../../../src/services/merchants/keys/api-key';
import { revokeKey } from '../../../src/services/merchants/keys/revoke-key';
import { insertMerchant } from '../../../src/services/merchants/merchants';
import { osUser } from '../../support/actors';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { issueKey, revokeAsOperator } from '../../support/keys';

let database: TestDatabase;
let db: Pool;
let merchantId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url);
});

beforeEach(async () => {
  const merchant = { name: 'Toko Maju', feePayer: 'merchant', providers: ['gopay'], approve: true } as const;
  merchantId = (await insertMerchant(db, merchant)).id;
});

afterAll(async () => {
  await db.end();
  await database.drop();
});

const issue = (allowedNetworks: readonly string[] = []) =>
  issueKey(db, { merchantId, allowedNetworks, environment: 'sandbox' });

/** As the API looks a key up. */
function authenticate(secret: string, address = '203.0.113.7') {
  const parsed = parseSecretKey(secret, 'sandbox');
  return parsed && findApiKey(db, parsed.secretSha256, address);
}

it('creates a key that authenticates its merchant', async () => {
  const key = await issue();
  expect(await authenticate(key.secret)).toMatchObject({ keyId: key.id, merchantId, addressAllowed: true });
});

it('stores and lists no secret', async () => {
  const { secret, masked } = await issue();
  const { rows } = await db.query<{ text: string }>('select api_keys::text as text from api_keys');
  expect(rows.map((row) => row.text).join()).not.toContain(secret.slice('sk_test_'.length, -4));
  const listed = await listKeys(db, merchantId);
  expect(listed).toHaveLength(1);
  expect(JSON.stringify(listed)).not.toContain(secret);
  expect(listed[0]?.masked).toBe(masked);
});

it('accepts a key only from its allowed networks', async () => {
  const { secret, allowedNetworks } = await issue(['10.1.2.3/8', '203.0.113.7', '2001:db8::1/32', '10.0.0.0/8']);
  expect([...allowedNetworks].sort()).toEqual(['10.0.0.0/8', '2001:db8::/32', '203.0.113.7/32']);
  const allowed = async (address: string) => (await authenticate(secret, address))?.addressAllowed;
  expect(await allowed('10.255.0.1')).toBe(true);
  expect(await allowed('203.0.113.7')).toBe(true);
  expect(await allowed('2001:db8:ffff::1')).toBe(true);
  expect(await allowed('203.0.113.8')).toBe(false);
  expect(await allowed('2001:db9::1')).toBe(false);
});

it('revokes a key permanently, and only that key', async () => {
  const [lost, retained] = [await issue(), await issue()];
  await revokeAsOperator(db, lost.id);
  const { revokedAt } = await findKey(db, 'all', lost.id);
  expect(revokedAt).toBeInstanceOf(Date);
  const again = revokeKey.run({ db }, osUser('root'), { path: { key: lost.id }, input: {}, formId: randomUUID() });
  expect(await again).toMatchObject({ outcome: 'rejected', rejection: { reason: 'key_revoked', revokedAt } });
  expect((await findKey(db, 'all', lost.id)).revokedAt).toEqual(revokedAt);
  expect(await authenticate(lost.secret)).toBeUndefined();
  expect(await authenticate(retained.secret)).toBeDefined();
});

it('rejects an unknown merchant or key, and names it', async () => {
  const unknownId = randomUUID();
  await expect(issueKey(db, { merchantId: unknownId, allowedNetworks: [], environment: 'sandbox' })).rejects.toThrow(
    unknownId,
  );
  await expect(listKeys(db, unknownId)).rejects.toThrow(unknownId);
  await expect(revokeAsOperator(db, unknownId)).rejects.toThrow(unknownId);
});

it.each([
  ['203.0.113.7', true],
  ['203.0.113.0/24', true],
  ['0.0.0.0/0', true],
  ['2001:db8::1', true],
  ['2001:db8::/32', true],
  ['203.0.113.0/33', false],
  ['203.0.113.300', false],
  ['203.0.113', false],
  ['203.0.113.0/', false],
  ['2001:db8::/129', false],
  ['::ffff:203.0.113.7', false],
  ['::FFFF:cb00:7107', false],
  ['0:0:0:0:0:ffff:203.0.113.7', false],
  ['0000:0000:0000:0000:0000:ffff:203.0.113.7', false],
  ['0:0:0:0:0:ffff:203.0.113.0/120', false],
  ['::ffff:0:1:2', true],
  ['example.com', false],
  ['', false],
])('accepts %p as an address or a network: %p', (text, expected) => {
  expect(isNetwork(text)).toBe(expected);
});
