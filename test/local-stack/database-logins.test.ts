import { ensureLedger, ensureLogins, loginUrl } from '../../src/local-stack/database-logins';
import { withClient } from '../../src/local-stack/postgres';
import { openDatabase } from '../../src/sandbox/database';
import { createTestDatabase, newDatabase } from '../support/database';

it('a ledger that the superuser created before belongs to the sandbox afterwards', async () => {
  const ledger = newDatabase();
  const name = new URL(ledger.url).pathname.slice(1);
  const before = await openDatabase(ledger.url);
  await before.query('update bank set refund_confirms_after_seconds = 7');
  await before.end();

  const serverUrl = new URL(ledger.url);
  serverUrl.pathname = 'postgres';
  await ensureLogins(serverUrl.href);
  await ensureLedger(serverUrl.href, name);

  for (const login of ['lunas_local_sandbox', 'lunas_local'] as const) {
    const pool = await openDatabase(loginUrl(ledger.url, login));
    const { rows } = await pool.query('select refund_confirms_after_seconds as seconds from bank');
    expect(rows).toEqual([{ seconds: 7 }]);
    await pool.query("insert into notifications (order_id, url, body) select 'x', '', '' where false");
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
