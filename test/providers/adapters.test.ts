import { randomUUID } from 'node:crypto';
import { createSealer, type Sealer } from '../../src/crypto/sealing';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { onlyRow } from '../../src/db/connection/require-row';
import { ADAPTERS } from '../../src/providers/adapters';
import { findPayoutNotifications } from '../../src/providers/payout-notifications';
import { createPayoutRegistry } from '../../src/providers/payout-registry';
import { createProviderRegistry } from '../../src/providers/registry';
import { SILENT } from '../support/collect-log';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { newMasterKey } from '../support/service';

const CONSTRAINT = 'provider_accounts_adapter_of_purpose';

let database: TestDatabase;
let db: Pool;
let sealer: Sealer;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 2 });
  sealer = createSealer(newMasterKey());
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

it('the table has the pairs of purpose and adapter that the database accepts', async () => {
  const { rows } = await db.query<{ definition: string }>(
    'select pg_get_constraintdef(oid) as definition from pg_constraint where conname = $1',
    [CONSTRAINT],
  );
  const pairs = onlyRow(rows).definition.matchAll(/purpose = '(\w+)'::text\) AND \(adapter = '([\w-]+)'::text/g);
  const accepted = [...pairs].map(([, purpose, adapter]) => `${purpose} ${adapter}`);
  const known = Object.entries(ADAPTERS).flatMap(([purpose, adapters]) =>
    Object.keys(adapters).map((adapter) => `${purpose} ${adapter}`),
  );
  expect(accepted.toSorted()).toEqual(known.toSorted());
});

describe('an account with an adapter of a later version', () => {
  const baseUrl = 'http://127.0.0.1:9';
  const settings = () => ({ db, sealer, publicBaseUrl: 'http://127.0.0.1', log: SILENT, slotsPerAccount: 1 });

  beforeAll(() => db.query(`alter table provider_accounts drop constraint ${CONSTRAINT}`));

  /** As that version writes its account. */
  async function addAccount(purpose: keyof typeof ADAPTERS, adapter: string): Promise<string> {
    const id = randomUUID();
    const isForPayouts = purpose === 'payouts';
    await db.query(
      `insert into provider_accounts (id, purpose, provider, adapter, base_url, sealed_server_key, sealed_credentials)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        id,
        purpose,
        isForPayouts ? null : 'gopay',
        adapter,
        baseUrl,
        sealer.seal('{}', ['provider-server-key', id, adapter, baseUrl]),
        isForPayouts ? sealer.seal('{}', ['provider-credentials', id, adapter, baseUrl]) : null,
      ],
    );
    return id;
  }

  const errorOf = (id: string, adapter: string) =>
    expect.objectContaining({
      message: expect.stringMatching(new RegExp(`account ${id} has the adapter ${adapter},`)),
    });

  it.each(['snap-qris', 'snap-midtrans', 'toString'])(
    'no client of Midtrans calls an account with the adapter %s',
    async (adapter) => {
      const id = await addAccount('payments', adapter);
      const registry = createProviderRegistry(settings());
      await expect(registry.forAccount(id)).rejects.toEqual(errorOf(id, adapter));
      await registry.close();
    },
  );

  it.each(['snap-bank', 'midtrans'])('no client of a bank calls an account with the adapter %s', async (adapter) => {
    const id = await addAccount('payouts', adapter);
    const registry = createPayoutRegistry(settings());
    await expect(registry.findAccount(id)).rejects.toEqual(errorOf(id, adapter));
    await registry.close();
    await expect(findPayoutNotifications(settings(), id, 'http://localhost/x')).rejects.toEqual(errorOf(id, adapter));
    await db.query("update provider_accounts set status = 'disabled' where id = $1", [id]);
  });
});
