import { randomBytes } from 'node:crypto';
import { createSealer } from '../../src/crypto/sealing';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { createProviderRegistry } from '../../src/providers/registry';
import { addAccount } from '../../src/services/provider-accounts/provider-accounts';
import { resealAll } from '../../src/services/recovery/reseal';
import { SILENT } from '../support/collect-log';
import { createTestDatabase, type TestDatabase } from '../support/database';

const masterKey = randomBytes(32).toString('base64');
const sealer = createSealer(masterKey);

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

const addGopay = (serverKey: string) =>
  addAccount(db, sealer, { provider: 'gopay', adapter: 'midtrans', serverKey, weight: 1, environment: 'sandbox' });

async function useAccount(id: string): Promise<void> {
  const registry = createProviderRegistry({ db, sealer, publicBaseUrl: 'http://127.0.0.1:1', log: SILENT });
  try {
    await registry.forAccount(id);
  } finally {
    await registry.close();
  }
}

it('attack: an account whose base URL was changed in the database does not receive its server key', async () => {
  const { id } = await addGopay('SB-Mid-server-1');
  await useAccount(id);
  await db.query("update provider_accounts set base_url = 'https://attacker.example' where id = $1", [id]);
  await expect(useAccount(id)).rejects.toThrow(/authenticate/);
});

it('a reseal names the row whose value does not open', async () => {
  const { id } = await addGopay('SB-Mid-server-1');
  await db.query("update provider_accounts set base_url = 'https://attacker.example' where id = $1", [id]);
  const rotated = createSealer(randomBytes(32).toString('base64'), [masterKey]);
  await expect(resealAll(db, rotated, () => undefined)).rejects.toThrow(
    /^provider_accounts [0-9a-f-]+ has a sealed value that does not open/,
  );
});

it('attack: a server key that was copied to another account does not open', async () => {
  const [victim, own] = [await addGopay('SB-Mid-server-1'), await addGopay('SB-Mid-server-2')];
  await db.query(
    `update provider_accounts set sealed_server_key =
       (select sealed_server_key from provider_accounts where id = $1) where id = $2`,
    [victim.id, own.id],
  );
  await expect(useAccount(own.id)).rejects.toThrow(/authenticate/);
});
