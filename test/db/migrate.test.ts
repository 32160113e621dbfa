import { migrate } from '../../src/db/connection/migrate';
import { withClient } from '../../src/local-stack/postgres';
import { createEmptyDatabase } from '../support/database';
import { runBuiltLunas } from '../support/lunas-process';

/** As the versions before the first release left it. */
const DEVELOPMENT_SCHEMA = `
  create table schema_migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null);
  insert into schema_migrations (name, run_on) values ('0001_payments', now()), ('0002_list_indexes', now());
  create table payments (id uuid primary key);
  insert into payments values ('2c7d5bb2-9a43-4a3e-b0b7-0a8f4de2b1a1');`;

const CONTENT = `
  select (select array_agg(relname::text order by relname) from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r') as tables,
    (select array_agg(name::text order by name) from schema_migrations) as migrations,
    (select count(*)::integer from payments) as payments`;

it('a migration does not change a database of a version before the first release', async () => {
  const database = await createEmptyDatabase();
  await withClient(database.url, (client) => client.query(DEVELOPMENT_SCHEMA));
  await expect(migrate(database.url, 'sandbox')).rejects.toMatchObject({
    name: 'UserError',
    message:
      'This database was created by a development version of Lunas, from before the first release, ' +
      'and this version cannot migrate it: use a new database.',
  });
  const { rows } = await withClient(database.url, (client) => client.query(CONTENT));
  expect(rows).toEqual([
    { tables: ['payments', 'schema_migrations'], migrations: ['0001_payments', '0002_list_indexes'], payments: 1 },
  ]);
  await database.drop();
});

it('the first migration records the cell, and a database of another cell is not migrated', async () => {
  const database = await createEmptyDatabase();
  const migrateAs = (LUNAS_CELL: string) =>
    runBuiltLunas(['migrate'], { DATABASE_URL: database.url, LUNAS_ENVIRONMENT: 'sandbox', LUNAS_CELL });
  const query = (text: string) => withClient(database.url, async (client) => (await client.query(text)).rows);
  expect(await migrateAs('07')).toMatchObject({ exitCode: 0 });
  expect(await query('select cell from installation')).toEqual([{ cell: '07' }]);
  expect(await migrateAs('07')).toMatchObject({ exitCode: 0, stdout: 'The schema is up to date.\n' });
  // Rejected before the migration that is missing, which would fail on what is there already.
  await query('delete from schema_migrations where id = (select max(id) from schema_migrations)');
  expect(await migrateAs('08')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('This is the database of cell 07, not of 08. Correct DATABASE_URL or LUNAS_CELL.'),
  });
  await database.drop();
});

it('an index of a large table is built before the migration, which would block its writes', async () => {
  const database = await createEmptyDatabase();
  const migrate = () => runBuiltLunas(['migrate'], { DATABASE_URL: database.url, LUNAS_ENVIRONMENT: 'sandbox' });
  const query = (text: string) => withClient(database.url, (client) => client.query(text));
  expect(await migrate()).toMatchObject({ exitCode: 0 });
  await query("delete from schema_migrations where name = '0011_schema_exceptions'");
  await query('drop index daily_runs_complete_idx');
  await query("update pg_class set reltuples = 2000000 where relname = 'daily_runs'");
  const { exitCode, stderr } = await migrate();
  expect(exitCode).toBe(1);
  expect(stderr).toContain('A migration would block all writes to a large table');
  expect(stderr).toMatch(
    /^create index concurrently daily_runs_complete_idx on daily_runs \(kind, finished_at\) where is_complete;$/m,
  );
  await query("update pg_class set reltuples = 10 where relname = 'daily_runs'");
  // It builds the small one: what fails then is the table that exists.
  expect((await migrate()).stderr).not.toContain('A migration would block');
  await database.drop();
});
