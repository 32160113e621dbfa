import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { findCurrentPolicy } from '../../../src/db/operations/find-current-policy';
import { listPolicies, setPolicy } from '../../../src/services/provider-accounts/catalog';
import { createTestDatabase, type TestDatabase } from '../../support/database';

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

const gopay = { provider: 'gopay', channel: 'qris' } as const;

it('a first policy has a fee of 0.7 %, settlement after one day and 15 minutes to pay', async () => {
  expect(await setPolicy(db, gopay)).toMatchObject({
    ...gopay,
    version: 1,
    feeBasisPoints: 70,
    feeFlatRupiah: 0,
    settlementKind: 'automatic',
    settlementDelaySeconds: 86_400,
    expiresInSeconds: 900,
  });
});

it('a new version copies absent terms from the previous one, zero included', async () => {
  await setPolicy(db, { ...gopay, feeBasisPoints: 0, feeFlatRupiah: 1_500, settlementKind: 'manual' });
  await setPolicy(db, { provider: 'shopeepay', channel: 'qris', feeBasisPoints: 99 });
  expect(await setPolicy(db, { ...gopay, settlementDelaySeconds: 3 })).toMatchObject({
    version: 2,
    feeBasisPoints: 0,
    feeFlatRupiah: 1_500,
    settlementKind: 'manual',
    settlementDelaySeconds: 3,
    expiresInSeconds: 900,
  });
  expect(await setPolicy(db, { ...gopay, feeFlatRupiah: 0 })).toMatchObject({ version: 3, feeFlatRupiah: 0 });
});

it('lists the version in force, which new payments capture', async () => {
  const first = await setPolicy(db, gopay);
  const second = await setPolicy(db, { ...gopay, feeBasisPoints: 30 });
  const shopeepay = await setPolicy(db, { provider: 'shopeepay', channel: 'qris' });
  expect(await listPolicies(db)).toEqual([second, shopeepay]);
  const { policy } = await findCurrentPolicy(db, { merchantId: randomUUID(), provider: 'gopay', channel: 'qris' });
  expect(policy).toMatchObject({ policyId: second.id, feeBasisPoints: 30 });
  expect((await db.query('select from policies where id = $1', [first.id])).rowCount).toBe(1);
});

it('writes one version for each of many concurrent changes', async () => {
  await setPolicy(db, gopay);
  const terms = [
    { feeBasisPoints: 30 },
    { feeFlatRupiah: 100 },
    { settlementKind: 'manual' },
    { expiresInSeconds: 60 },
  ] as const;
  const versions = await Promise.all(terms.map((term) => setPolicy(db, { ...gopay, ...term })));
  expect(versions.map(({ version }) => version).sort((one, other) => one - other)).toEqual([2, 3, 4, 5]);
  expect(await listPolicies(db)).toEqual([expect.objectContaining({ version: 5, ...Object.assign({}, ...terms) })]);
});
