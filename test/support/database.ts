import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { POOL_MODES, throughPooler, type PoolMode } from '../../src/lib/pooler';
import { loginUrl, type DatabaseLogin } from '../../src/local-stack/database-logins';
import { urlThrough } from './pgbouncer';
import { TEMPLATE_DATABASE, testEnvironment } from './test-environment';

export interface TestDatabase {
  /** The URL with the server's superuser, never through a pooler. */
  readonly url: string;
  /** The URL with a login role of the local stack, for processes. */
  urlOf(login: DatabaseLogin): string;
  drop(): Promise<void>;
}

/** The URL of a database that does not exist yet: the process under test creates it. Drop it in `afterAll`. */
export function newDatabase(): TestDatabase {
  return databaseNamed(`test_${randomUUID().replaceAll('-', '')}`);
}

/**
 * A migrated, empty database, copied from the template. Drop it in `afterAll`. PostgreSQL's default strategy, by WAL,
 * takes a third longer or more.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE} STRATEGY file_copy`);
  return databaseNamed(name);
}

/** An existing database without a table. Drop it in `afterAll`. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(`CREATE DATABASE ${name}`);
  return databaseNamed(name);
}

/** As `createTestDatabase`, but the database records `production`. */
export async function createProductionDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  // The template is a sandbox. Its trigger rejects the change.
  await client.query("set session_replication_role = replica; update installation set environment = 'production'");
  await client.end();
  return database;
}

/** An empty database for the sandbox. Without a pooler the sandbox creates it. */
export async function newLedger(): Promise<TestDatabase> {
  return poolModeOfRun() === undefined ? newDatabase() : createEmptyDatabase();
}

/** The mode of the pooler between processes and PostgreSQL, in a project of jest.pgbouncer.config.cjs. */
export function poolModeOfRun(): PoolMode | undefined {
  return POOL_MODES.find((mode) => mode === process.env.LUNAS_TEST_POOL_MODE);
}

/** The address of a database, as processes have it: that of the pooler, if there is one. */
export function processUrl(databaseUrl: string): string {
  const mode = poolModeOfRun();
  if (mode === undefined) return databaseUrl;
  const port = testEnvironment(mode === 'session' ? 'SESSION_PORT' : 'TRANSACTION_PORT');
  return throughPooler(urlThrough({ port: Number(port) }, databaseUrl), mode);
}

/** An empty database behind the pooler of this run, and the ledger of its sandbox. */
export interface PooledInstallation {
  /** Variables of `lunas up` and of commands. Without a pooler there are none: `lunas up` starts PostgreSQL. */
  readonly variables: NodeJS.ProcessEnv;
  drop(): Promise<void>;
}

export async function createPooledInstallation(): Promise<PooledInstallation> {
  const mode = poolModeOfRun();
  if (mode === undefined) return { variables: {}, drop: () => Promise.resolve() };
  const database = await createEmptyDatabase();
  const name = new URL(database.url).pathname.slice(1);
  // The superuser, who seeds the demo data, has no limit.
  await onServer(`ALTER DATABASE ${name} SET statement_timeout = '15s'`);
  await onServer(`CREATE DATABASE ${name}_sandbox`);
  const ledger = databaseNamed(`${name}_sandbox`);
  const variables = {
    DATABASE_URL: processUrl(database.url),
    DATABASE_POOLER: mode,
    DATABASE_DIRECT_URL: database.url,
  };
  return {
    variables,
    async drop() {
      await Promise.all([database.drop(), ledger.drop()]);
    },
  };
}

function databaseNamed(name: string): TestDatabase {
  const url = new URL(testEnvironment('DATABASE_SERVER_URL'));
  url.pathname = name;
  const urlOf = (login: DatabaseLogin) => processUrl(loginUrl(url.href, login));
  return { url: url.href, urlOf, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** No process had too few rights in the database, also where it ignores a failed statement. */
export async function expectNoDeniedStatement(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const log = await readFile(testEnvironment('DATABASE_LOG_PATH'), 'utf8');
  const denied = log.split('\n').filter((line) => line.startsWith(`${name} `) && line.includes('permission denied'));
  expect(denied).toEqual([]);
}

/** Copies a database, as a backup does. `restore` replaces the database by the copy and ends all connections. */
export async function backUp(url: string): Promise<{ restore(): Promise<void>; drop(): Promise<void> }> {
  const name = new URL(url).pathname.slice(1);
  const copy = `${name}_backup`;
  await onServer(`CREATE DATABASE ${copy} TEMPLATE ${name} STRATEGY file_copy`, name);
  return {
    async restore() {
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
      await onServer(`CREATE DATABASE ${name} TEMPLATE ${copy}`);
    },
    drop: () => onServer(`DROP DATABASE IF EXISTS ${copy} WITH (FORCE)`),
  };
}

/** @param disconnected the database whose connections are ended first */
async function onServer(statement: string, disconnected?: string): Promise<void> {
  const client = new Client({ connectionString: testEnvironment('DATABASE_SERVER_URL') });
  await client.connect();
  try {
    if (disconnected !== undefined) {
      await client.query(`ALTER DATABASE ${disconnected} ALLOW_CONNECTIONS false`);
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [disconnected]);
    }
    await client.query(statement);
    if (disconnected !== undefined) await client.query(`ALTER DATABASE ${disconnected} ALLOW_CONNECTIONS true`);
  } finally {
    await client.end();
  }
}
