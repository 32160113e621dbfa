import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { parseSecretKey } from '../../../src/crypto/secret-key';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { findApiKey } from '../../../src/db/merchants/find-api-key';
import { findCurrentPolicy } from '../../../src/db/operations/find-current-policy';
import { PROPOSED_BANDS } from '../../../src/domain/fee-classes';
import { NO_RATES } from '../../../src/domain/fee-terms';
import { PROVIDERS } from '../../../src/domain/provider-capabilities';
import { listKeys } from '../../../src/services/merchants/keys/api-key';
import { changeMerchant, listMerchants } from '../../../src/services/merchants/merchants';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { listAccounts } from '../../../src/services/provider-accounts/provider-accounts';
import { seedDemo, type Demo, type DemoOptions } from '../../../src/services/sandbox/seed-demo';
import { disableAsOperator } from '../../support/accounts';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { putIdentityInForce } from '../../support/fee-rates';
import { revokeAsOperator } from '../../support/keys';
import { registerEndpoint } from '../../support/webhooks';

const masterKey = randomBytes(32).toString('base64');

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

const seed = (changes: Partial<DemoOptions> = {}): Promise<Demo> =>
  seedDemo({
    databaseUrl: database.url,
    masterKey,
    sandboxUrl: 'http://127.0.0.1:3001',
    sandboxServerKey: 'SB-Mid-server-of-the-test',
    ...changes,
  });

async function authenticate(secretKey: string) {
  const parsed = parseSecretKey(secretKey, 'sandbox');
  return parsed && findApiKey(db, parsed.secretSha256, '127.0.0.1');
}

it('creates an approved merchant that can take payments with every provider', async () => {
  const { merchantId, secretKey } = await seed();
  expect(await authenticate(secretKey)).toMatchObject({
    merchantId,
    merchantStatus: 'approved',
    providers: PROVIDERS,
    paymentMethodActive: true,
  });
  for (const provider of PROVIDERS) {
    const { policy, providerAccountId } = await findCurrentPolicy(db, {
      merchantId: randomUUID(),
      provider,
      channel: 'qris',
    });
    expect(policy).toMatchObject({ feeBasisPoints: 70, settlementKind: 'automatic', expiresInSeconds: 900 });
    // A new user has the time to refund a payment, and sees one settle.
    expect(policy?.settlementDelaySeconds).toBe(120);
    expect(providerAccountId).not.toBeNull();
  }
});

it('the proposed rates are those of a merchant with an identity, which the demo merchant has not', async () => {
  const { merchantId } = await seed();
  const ratesOf = async (id: string) =>
    (await findCurrentPolicy(db, { merchantId: id, provider: 'gopay', channel: 'qris' })).rates;
  expect(await ratesOf(merchantId)).toEqual(NO_RATES);
  await putIdentityInForce(db, merchantId, 'UMI');
  const bands = PROPOSED_BANDS.UMI;
  expect(await ratesOf(merchantId)).toEqual({
    class: 'UMI',
    schedule: { validFrom: '2024-12-01', bands },
    price: null,
    vatBasisPoints: 0,
  });
  await seed();
  expect((await db.query('select from fee_schedules')).rowCount).toBe(8);
});

it('returns the same merchant and key at every start, and writes no row twice', async () => {
  const first = await seed();
  expect(await seed()).toEqual(first);
  expect(await listMerchants(db)).toHaveLength(1);
  expect(await listKeys(db, first.merchantId)).toHaveLength(1);
  expect(await listAccounts(db)).toHaveLength(PROVIDERS.length);
  expect((await db.query('select from policies')).rowCount).toBe(PROVIDERS.length);
});

it('stores no secret key in the database', async () => {
  const { secretKey } = await seed();
  const { rows } = await db.query<{ text: string }>('select api_keys::text as text from api_keys');
  expect(rows[0]?.text).not.toContain(secretKey.slice('sk_test_'.length, -4));
});

it('derives a different key for each installation', async () => {
  const one = await seed();
  const other = await seed({ masterKey: randomBytes(32).toString('base64') });
  expect(other.merchantId).toBe(one.merchantId);
  expect(other.secretKey).not.toBe(one.secretKey);
});

it('updates the accounts if the sandbox has another port', async () => {
  await seed();
  await seed({ sandboxUrl: 'http://127.0.0.1:4001' });
  expect((await listAccounts(db)).map((account) => account.baseUrl)).toEqual(
    PROVIDERS.map(() => 'http://127.0.0.1:4001'),
  );
});

it('keeps the changes of operators', async () => {
  const { merchantId } = await seed();
  await changeMerchant(db, merchantId, { feePayer: 'buyer', providers: ['gopay'] });
  await setPolicy(db, { provider: 'gopay', channel: 'qris', feeBasisPoints: 30 });
  const [account] = await listAccounts(db);
  await disableAsOperator(db, account?.id ?? '');
  await seed();
  expect(await listMerchants(db)).toMatchObject([{ feePayer: 'buyer', providers: ['gopay'] }]);
  expect(
    (await findCurrentPolicy(db, { merchantId: randomUUID(), provider: 'gopay', channel: 'qris' })).policy
      ?.feeBasisPoints,
  ).toBe(30);
  expect((await listAccounts(db))[0]).toMatchObject({ id: account?.id, status: 'disabled' });
});

it('creates another key after the first was revoked, and returns it from then on', async () => {
  const first = await seed();
  const [key] = await listKeys(db, first.merchantId);
  await revokeAsOperator(db, key?.id ?? '');
  const second = await seed();
  expect(await authenticate(first.secretKey)).toBeUndefined();
  expect(await authenticate(second.secretKey)).toBeDefined();
  expect(await seed()).toEqual(second);
});

it('returns the secret of the newest endpoint', async () => {
  const { merchantId, webhookSecret } = await seed();
  expect(webhookSecret).toBeNull();
  const { secret } = await registerEndpoint(db, createSealer(masterKey), {
    merchantId,
    url: 'http://127.0.0.1:9/',
    events: [],
  });
  expect((await seed()).webhookSecret).toBe(secret);
});
