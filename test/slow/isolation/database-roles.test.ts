import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureLogins, loginUrl } from '../../../src/local-stack/database-logins';
import type { ManagedProcess } from '../../../src/local-stack/managed-process';
import { freePort } from '../../../src/local-stack/ports';
import { ensureDatabase, PostgresCluster, withClient } from '../../../src/local-stack/postgres';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { openDatabase } from '../../../src/sandbox/database';
import { temporaryDirectory } from '../../local-stack/processes';
import { runBuiltLunas } from '../../support/lunas-process';
import { readSection } from '../../support/marked-section';

const running: ManagedProcess[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

/** A server without the roles of Lunas. @returns the connection string of a database, as its superuser */
async function startServer(): Promise<(database: string) => string> {
  const { signal } = new AbortController();
  const parent = await temporaryDirectory();
  const files = { directory: path.join(parent, 'postgres'), logFile: path.join(parent, 'postgres.log') };
  const cluster = await PostgresCluster.open({ ...files, port: await freePort() }, signal);
  running.push(await cluster.start(signal));
  return (database) => cluster.databaseUrl(database);
}

function urlOf(superuserUrl: string, role: string, password = 'secret'): string {
  const url = new URL(superuserUrl);
  url.username = role;
  url.password = password;
  return url.href;
}

async function execute(superuserUrl: string, statements: readonly string[]): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

const lunas = (DATABASE_URL: string, ...args: string[]) =>
  runBuiltLunas(args, { DATABASE_URL, LUNAS_ENVIRONMENT: 'sandbox' });

it('two databases are migrated at the same time, and create the roles once', async () => {
  const server = await startServer();
  const urls = ['one', 'two'].map((name) => server(name));
  await ensureDatabase(server('postgres'), 'one');
  await ensureDatabase(server('postgres'), 'two');
  const outcomes = await Promise.all(urls.map((url) => lunas(url, 'migrate')));
  expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  await ensureLogins(server('postgres'));
  for (const url of urls) {
    const { exitCode, stdout } = await lunas(loginUrl(url, 'lunas_local'), 'merchants', 'list', '--json');
    expect({ exitCode, stdout: JSON.parse(stdout) }).toEqual({ exitCode: 0, stdout: { merchants: [] } });
  }
});

it('a role that may create roles migrates', async () => {
  const server = await startServer();
  const creator = "create role creator login createrole password 'secret'";
  await execute(server('postgres'), [creator, 'create database lunas owner creator']);
  expect(await lunas(urlOf(server('lunas'), 'creator'), 'migrate')).toMatchObject({ exitCode: 0, stderr: '' });
});

it('the statements of docs/production.md prepare a server', async () => {
  const server = await startServer();
  for (const name of ['roles', 'pooler']) {
    const section = readSection({ page: 'docs/production.md', kind: 'sql', name });
    await execute(
      server('postgres'),
      section.split('\n').filter((line) => !line.startsWith('```')),
    );
  }
  const as = (role: string) => urlOf(server('lunas'), role);
  expect(await lunas(as('migrator'), 'migrate')).toMatchObject({ exitCode: 0, stderr: '' });
  const created = await lunas(as('dewi'), 'merchants', 'create', '--name', 'Toko');
  expect(created).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await lunas(as('report'), 'merchants', 'create', '--name', 'Toko')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: PostgreSQL at \S+ rejects it: permission denied for function .*\n$/),
  });
});

it('the statements of docker-compose.yml prepare its server', async () => {
  const server = await startServer();
  const compose = await readFile(path.join(PACKAGE_ROOT, 'docker-compose.yml'), 'utf8');
  const statements = compose
    .split('\n')
    .filter((line) => /^ {6}(create role|create database|alter database) /.test(line));
  expect(statements).toHaveLength(21);
  await ensureDatabase(server('postgres'), 'lunas');
  await execute(server('lunas'), statements);
  const as = (role: string, database = 'lunas') => urlOf(server(database), role, role);
  expect(await lunas(as('migrator'), 'migrate')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await lunas(as('operator'), 'merchants', 'list')).toMatchObject({ exitCode: 0, stderr: '' });
  const ledger = await openDatabase(as('sandbox', 'lunas_sandbox'));
  await ledger.end();
});
