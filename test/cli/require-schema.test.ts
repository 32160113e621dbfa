import { Writable } from 'node:stream';
import { Client } from 'pg';
import { requireSchema } from '../../src/cli/require-schema';
import { createLogger, type Logger } from '../../src/logger';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let lines: string[];
let log: Logger;
beforeEach(async () => {
  database = await createTestDatabase();
  lines = [];
  const collector = new Writable({
    write(line, _encoding, done) {
      lines.push(String(line));
      done();
    },
  });
  log = createLogger('test', 'warn', collector);
});
afterEach(() => database.drop());

async function change(statement: string): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

it('accepts the schema of this version', async () => {
  await requireSchema(database.url, log);
  expect(lines).toEqual([]);
});

it('rejects a database that lacks a migration of this version, and names the migration', async () => {
  await change("delete from schema_migrations where name = '0007_operators'");
  await expect(requireSchema(database.url, log)).rejects.toThrow(/\(0007_operators\)\. Run `lunas migrate`/);
});

it('accepts a newer database with a warning, because old and new processes may run together', async () => {
  await change("insert into schema_migrations (name, run_on) values ('9999_newer', now())");
  await requireSchema(database.url, log);
  expect(lines).toEqual([expect.stringContaining('9999_newer')]);
});

it('accepts an unavailable database with a warning', async () => {
  await requireSchema('postgresql://127.0.0.1:1/lunas', log);
  expect(lines).toEqual([expect.stringContaining('not compared')]);
});
