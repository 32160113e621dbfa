import { ensureLedger, ensureLogins, loginUrl } from '../../src/local-stack/database-logins';
import { withClient } from '../../src/local-stack/postgres';
import { openDatabase } from '../../src/sandbox/database';
import { createTestDatabase, newDatabase } from '../support/database';

it('the ledger belongs to the sandbox, and is readable for the user of the machine', async () => {
  const ledger = newDatabase();
  const name = new URL(ledger.url).pathname.slice(1);
  const serverUrl = new URL(ledger.url);
  serverUrl.pathname = 'postgres';
  await ensureLogins(serverUrl.href);
  await ensureLedger(serverUrl.href, name);

  for (const login of ['lunas_local_sandbox', 'lunas_local'] as const) {
    const pool = await openDatabase(loginUrl(ledger.url, login));
    const insert = "insert into notifications (order_id, url, body) select 'x', '', '' where false";
    expect((await pool.query(insert)).rowCount).toBe(0);
    await pool.end();
  }
  await ledger.drop();
});

it('attack: the sandbox reads nothing of the database of Lunas', async () => {
  const database = await createTestDatabase();
  await withClient(database.urlOf('lunas_local_sandbox'), (client) =>
    expect(client.query('select from payments')).rejects.toMatchObject({ code: '42501' }),
  );
  await database.drop();
});
