import { rmSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { migrate } from '../../src/db/connection/migrate';
import type { PoolMode } from '../../src/lib/pooler';
import { ensureLogins } from '../../src/local-stack/database-logins';
import { findTemporalBinary } from '../../src/local-stack/find-temporal-binary';
import { loadLocalStackConfig, type LocalStackConfig } from '../../src/local-stack/local-stack-config';
import type { ManagedProcess } from '../../src/local-stack/managed-process';
import { freePort } from '../../src/local-stack/ports';
import { ensureDatabase, PostgresCluster, withClient } from '../../src/local-stack/postgres';
import { Progress } from '../../src/local-stack/progress';
import { runAll } from '../../src/local-stack/task-group';
import { startTemporal } from '../../src/local-stack/temporal';
import { TEMPORAL_CLI, TEST_SERVER } from '../../src/local-stack/temporal-binaries';
import { startPgBouncer } from '../support/pgbouncer';
import { buildTemporalServer, createTemporalSchema, startPostgresTemporal } from '../support/postgres-temporal';
import { TEMPLATE_DATABASE, type TestEnvironment } from '../support/test-environment';

/** Fast instead of durable: the cluster is temporary. */
const FAST_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '600' };
/** Database and role, for `expectNoDeniedStatement`. */
const LOG_SETTINGS = { log_line_prefix: '%d %u ' };

/** A process of the session pool keeps each of its connections. */
const SESSION_POOL_SIZE = 60;
/** Fewer than any process opens, so that its connections share sessions. */
const TRANSACTION_POOL_SIZE = 4;
/** As docs/production.md requires it of the roles behind a pooler in transaction mode. */
const LIMIT_LOGINS = `
  do $$
  declare
    login name;
  begin
    for login in select rolname from pg_roles where starts_with(rolname, 'lunas_local') loop
      execute format('alter role %I set statement_timeout = ''15s''', login);
    end loop;
  end $$`;

const aborter = new AbortController();
const processes: ManagedProcess[] = [];
let starting: Promise<unknown> = Promise.resolve();

/**
 * Starts the servers that all test files share: PostgreSQL with the template database, and a Temporal dev server.
 * Finds the time-skipping server, and bundles the workflows.
 * @param parent of the directory that all of them use
 */
export async function startTestServices(parent = os.tmpdir()): Promise<TestEnvironment> {
  const directory = await mkdtemp(path.join(parent, 'lunas-test-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  // If root starts PostgreSQL, it runs as the OS user `nobody`, which needs access.
  await chmod(directory, 0o711);
  const config = loadLocalStackConfig();
  const progress = new Progress();
  const { bundleWorkflows } = await import('../../scripts/bundle-workflows.mjs');
  const started = runAll(aborter.signal, (signal) => [
    startDatabase(directory, signal),
    startTemporalServer(directory, config, progress, signal),
    findTemporalBinary(TEST_SERVER, config, progress, signal),
    bundleWorkflows(path.join(directory, 'workflow-bundle.js')),
  ]);
  starting = started;
  const [databaseServerUrl, temporal, testServerPath] = await started;
  return {
    ...temporal,
    DATABASE_SERVER_URL: databaseServerUrl,
    DATABASE_LOG_PATH: databaseLog(directory),
    TEST_SERVER_PATH: testServerPath,
    WORKFLOW_BUNDLE_PATH: path.join(directory, 'workflow-bundle.js'),
  };
}

/** The same with a Temporal server on that PostgreSQL, built from its sources the first time. */
export async function startClusterServices(): Promise<TestEnvironment> {
  const { signal } = aborter;
  await buildTemporalServer(signal, (line) => process.stderr.write(`${line}\n`));
  const environment = await startTestServices();
  const directory = path.dirname(environment.DATABASE_LOG_PATH);
  const files = { directory: path.join(directory, 'cluster'), logFile: path.join(directory, 'cluster.log') };
  const databaseUrl = environment.DATABASE_SERVER_URL;
  const port = await freePort();
  const started = createTemporalSchema(databaseUrl, signal).then(() =>
    startPostgresTemporal({ ...files, port, databaseUrl }, signal),
  );
  starting = started;
  processes.push(await started);
  return { ...environment, TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
}

/** The same with two poolers before PostgreSQL, one of each mode. */
export async function startPooledServices(): Promise<TestEnvironment> {
  const environment = await startTestServices();
  const { DATABASE_SERVER_URL: serverUrl, DATABASE_LOG_PATH: logPath } = environment;
  await withClient(serverUrl, (client) => client.query(LIMIT_LOGINS));
  const startPooler = async (mode: PoolMode, poolSize: number): Promise<string> => {
    const directory = path.join(path.dirname(logPath), `pgbouncer-${mode}`);
    const pooler = await startPgBouncer(serverUrl, { mode, poolSize, directory });
    processes.push(pooler.process);
    return String(pooler.port);
  };
  return {
    ...environment,
    SESSION_PORT: await startPooler('session', SESSION_POOL_SIZE),
    TRANSACTION_PORT: await startPooler('transaction', TRANSACTION_POOL_SIZE),
  };
}

/** Also interrupts a start that is not complete. */
export async function stopTestServices(): Promise<void> {
  aborter.abort(new Error('The tests were interrupted'));
  await starting.catch(() => {});
  await Promise.all(processes.map((process) => process.stop()));
}

const databaseLog = (directory: string): string => path.join(directory, 'postgres.log');

async function startDatabase(directory: string, signal: AbortSignal): Promise<string> {
  const files = { directory: path.join(directory, 'postgres'), logFile: databaseLog(directory) };
  const options = { ...files, port: await freePort(), settings: { ...FAST_SETTINGS, ...LOG_SETTINGS } };
  const cluster = await PostgresCluster.open(options, signal);
  const server = await cluster.start(signal);
  processes.push(server);
  try {
    await createTemplateDatabase(cluster);
  } catch (error) {
    // A connection that ends without a reason: only the server's log has the reason.
    throw new Error(`PostgreSQL, last lines of its log:\n${await server.lastLogLines(20)}`, { cause: error });
  }
  return cluster.databaseUrl('postgres');
}

async function createTemplateDatabase(cluster: PostgresCluster): Promise<void> {
  const serverUrl = cluster.databaseUrl('postgres');
  await ensureDatabase(serverUrl, TEMPLATE_DATABASE);
  await migrate(cluster.databaseUrl(TEMPLATE_DATABASE), 'sandbox');
  await ensureLogins(serverUrl);
  await closeForConnections(serverUrl, TEMPLATE_DATABASE);
}

/** PostgreSQL can copy a template only while it has no connections. */
async function closeForConnections(serverUrl: string, database: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`ALTER DATABASE ${client.escapeIdentifier(database)} WITH ALLOW_CONNECTIONS false`);
  await client.end();
}

async function startTemporalServer(
  directory: string,
  config: LocalStackConfig,
  progress: Progress,
  signal: AbortSignal,
): Promise<Pick<TestEnvironment, 'TEMPORAL_ADDRESS' | 'TEMPORAL_CLI_PATH'>> {
  const binary = await findTemporalBinary(TEMPORAL_CLI, config, progress, signal);
  const ports = { port: await freePort(), uiPort: await freePort() };
  const files = { databaseFile: null, logFile: path.join(directory, 'temporal.log') };
  processes.push(await startTemporal({ binary, ...ports, namespace: 'default', ...files }, signal));
  return { TEMPORAL_ADDRESS: `127.0.0.1:${ports.port}`, TEMPORAL_CLI_PATH: binary };
}
