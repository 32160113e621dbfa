import { Client } from 'pg';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { createEmptyDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { runBuiltLunas } from '../../support/lunas-process';
import { dumpMigratedSchema, dumpSchema } from '../../support/schema-dump';

/** `PG_MIGRATE_LOCK_ID` of node-pg-migrate. */
const MIGRATION_LOCK = '7241865325823964';

let database: TestDatabase;
let db: Pool;
let holder: Client;

beforeEach(async () => {
  database = await createEmptyDatabase();
  db = createPool(database.url);
  // As a migration that was stopped left it. The first migration changes the table.
  await db.query(
    'create table schema_migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null)',
  );
  holder = new Client({ connectionString: database.url, application_name: 'nightly report' });
  // A test ends its session.
  holder.on('error', () => undefined);
  await holder.connect();
});
afterEach(async () => {
  await holder.end();
  await db.end();
  await database.drop();
});

const migrate = () => runBuiltLunas(['migrate'], { DATABASE_URL: database.url, LUNAS_ENVIRONMENT: 'sandbox' });

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

/** The sessions that wait for a lock in this database. */
async function waiting(): Promise<number> {
  const { rowCount } = await db.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount ?? 0;
}

/** Whether that many sessions waited for a lock before the migration ended, which it does after four seconds. */
async function isSeenWaiting(sessions: number, migration: Promise<unknown>): Promise<boolean> {
  let hasEnded = false;
  void migration.then(() => (hasEnded = true));
  return eventually(
    async () => (await waiting()) === sessions,
    (isSeen) => isSeen || hasEnded,
  );
}

const appliedMigrations = async () => (await db.query('select name from schema_migrations')).rowCount;

it('gives up behind a reader: it names the session, changes nothing, and succeeds later', async () => {
  const before = await dumpSchema(db);
  await holder.query('begin');
  await holder.query('select from schema_migrations');
  const pid = await pidOf(holder);
  const migration = migrate();
  await isSeenWaiting(1, migration);
  const order: string[] = [];
  const reader = db.query('select from schema_migrations').then(() => order.push('reader'));

  const { exitCode, stderr } = await migration;
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    new RegExp(
      String.raw`^error: Session ${pid} \(application "nightly report", role \w+, ` +
        String.raw`transaction since \d{4}-\d\d-\d\dT[\d:.]+Z\) holds a lock on the table schema_migrations\. ` +
        String.raw`Wait for its end, or end it with .select pg_terminate_backend\(${pid}\)., ` +
        String.raw`and migrate again\.\n$`,
    ),
  );
  // The transaction is still open, and no longer blocks other sessions.
  await reader;
  order.push('holder');
  await holder.query('select');
  expect(order).toEqual(['reader', 'holder']);
  expect(await waiting()).toBe(0);
  expect(await appliedMigrations()).toBe(0);
  expect(await dumpSchema(db)).toBe(before);

  // What the message advises.
  await db.query('select pg_terminate_backend($1)', [pid]);
  expect(await migrate()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('0001_schema_roles') });
  expect(await dumpSchema(db)).toBe(await dumpMigratedSchema());
});

it('waits for a lock that is released in time', async () => {
  // A machine that is too slow to release it in time repeats all of it.
  const result = await eventually(
    async () => {
      await holder.query('begin');
      await holder.query('lock table schema_migrations in access exclusive mode');
      const migration = migrate();
      const hasWaited = await isSeenWaiting(1, migration);
      await holder.query('commit');
      const { exitCode, stderr } = await migration;
      return { hasWaited, exitCode, stderr };
    },
    ({ hasWaited, exitCode }) => hasWaited && exitCode === 0,
  );
  expect(result).toEqual({ hasWaited: true, exitCode: 0, stderr: '' });
});

it('names the session of another `lunas migrate`', async () => {
  await holder.query("set application_name = 'lunas migrate'");
  await holder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
  const { exitCode, stderr } = await migrate();
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    new RegExp(`^error: Session ${await pidOf(holder)} \\(application "lunas migrate", .*\\) runs another migration`),
  );
  expect(await appliedMigrations()).toBe(0);
});

it('writes the whole schema of a new database, or nothing of it', async () => {
  await db.query('create table payouts ()');
  const before = await dumpSchema(db);
  const { exitCode, stderr } = await migrate();
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('"payouts" already exists') });
  expect(await appliedMigrations()).toBe(0);
  expect(await dumpSchema(db)).toBe(before);
});
