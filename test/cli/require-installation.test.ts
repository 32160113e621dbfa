import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { Client } from 'pg';
import { CommandContext } from '../../src/cli/command-context';
import { requireInstallation } from '../../src/cli/rules/require-installation';
import { createLogger, type Logger } from '../../src/observability/logger';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { freePorts, LUNAS } from '../support/lunas-process';

const LUNAS_MASTER_KEY = randomBytes(32).toString('base64');

let database: TestDatabase;
let lines: string[];
let log: Logger;
beforeEach(async () => {
  database = await createTestDatabase();
  lines = [];
  const collector = new Writable({
    write(line, _encoding, done) {
      // An old Node.js, which other tests are about, warns.
      if (!String(line).includes('"msg":"Node.js ')) lines.push(String(line));
      done();
    },
  });
  log = createLogger('test', 'warn', collector);
});
afterEach(() => database.drop());

const requireFor = (settings: NodeJS.ProcessEnv) =>
  requireInstallation(
    new CommandContext({
      LUNAS_HOME: '/nonexistent',
      LUNAS_MASTER_KEY,
      DATABASE_URL: database.url,
      ...settings,
    }),
    'api',
    log,
  );

async function change(statement: string): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

it('accepts the schema of this version, and returns the environment of the database', async () => {
  expect(await requireFor({})).toBe('sandbox');
  expect(lines).toEqual([]);
});

it('rejects a database that lacks a migration of this version, and names the migration', async () => {
  await change("delete from schema_migrations where name = '0001_schema_roles'");
  await expect(requireFor({})).rejects.toThrow(/\(0001_schema_roles\)\. Run `lunas migrate`/);
});

it('accepts a newer database with a warning, because old and new processes may run together', async () => {
  await change("insert into schema_migrations (name, run_on) values ('9999_newer', now())");
  await requireFor({});
  expect(lines).toEqual([expect.stringContaining('9999_newer')]);
});

describe('an unavailable database', () => {
  const unavailable = { DATABASE_URL: 'postgresql://127.0.0.1:1/lunas' };

  it('an unavailable database is accepted with a warning, if the environment is set', async () => {
    const listeners = { ...(await freePorts()), TEMPORAL_ADDRESS: '127.0.0.1:1', LUNAS_MASTER_KEY };
    const env = { PATH: process.env.PATH, ...listeners, ...unavailable, LUNAS_ENVIRONMENT: 'sandbox' };
    // A process, because it compares the database again every second.
    const api = spawn(process.execPath, [LUNAS, 'api'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    api.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await eventually(
      async () => stderr,
      (text) => text.includes('not compared') || api.exitCode !== null,
    );
    expect([api.exitCode, stderr]).toEqual([null, expect.stringContaining('not compared')]);
    api.kill();
    await once(api, 'exit');
  });

  it('an unavailable database is rejected if the environment is not known', async () => {
    await expect(requireFor(unavailable)).rejects.toThrow(/sandbox or production: LUNAS_ENVIRONMENT is not set/);
  });
});
