import { chown, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import which from 'which';
import { pollUntil } from '../../src/lib/poll-until';
import type { PoolMode } from '../../src/lib/pooler';
import { launch, type ManagedProcess } from '../../src/local-stack/managed-process';
import { freePort } from '../../src/local-stack/ports';
import { withClient } from '../../src/local-stack/postgres';
import { asPostgresOsUser, postgresOsUser } from '../../src/local-stack/postgres-os-user';

interface PgBouncerOptions {
  readonly mode: PoolMode;
  /** Connections to PostgreSQL for each user and database. */
  readonly poolSize: number;
  /** For its files; its parent must exist. */
  readonly directory: string;
  /** Startup parameters that it accepts and ignores. */
  readonly ignoredParameters?: string;
}

export interface PgBouncer {
  readonly process: ManagedProcess;
  readonly port: number;
}

/** The path of an ordinary user may lack the directory of servers. */
const SEARCH_PATH = `${process.env.PATH}:/usr/sbin`;
const START_LIMITS = { timeoutMs: 90_000, signal: new AbortController().signal };
const STOP_SIGNALS = [{ signal: 'SIGTERM', graceMs: 5_000 }] as const;

/**
 * Starts Debian's PgBouncer before a PostgreSQL server, for all of its databases and users.
 * @param superuserUrl a database of the server; the superuser reads the users' passwords
 */
export async function startPgBouncer(superuserUrl: string, options: PgBouncerOptions): Promise<PgBouncer> {
  const { directory } = options;
  const server = new URL(superuserUrl);
  const port = await freePort();
  const files = { 'pgbouncer.ini': configOf(server, port, options), 'users.txt': userLine(server) };
  // PgBouncer does not run as root.
  const user = postgresOsUser();
  await mkdir(directory, { mode: 0o711 });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    await writeFile(file, text, { mode: 0o600 });
    if (user !== null) await chown(file, user.uid, user.gid);
  }
  const file = path.join(directory, 'pgbouncer.ini');
  const command = asPostgresOsUser(which.sync('pgbouncer', { path: SEARCH_PATH }), [file], file);
  const logFile = path.join(directory, 'pgbouncer.log');
  const url = new URL(superuserUrl);
  url.port = String(port);
  const launched = await launch({ ...command, logFile, stopSignals: STOP_SIGNALS }, (process) =>
    pollUntil('PgBouncer accepts connections', () => acceptsConnections(process, url.href), START_LIMITS),
  );
  return { process: launched, port };
}

/** The address of the same database through PgBouncer. */
export function urlThrough({ port }: Pick<PgBouncer, 'port'>, databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.port = String(port);
  return url.href;
}

const userLine = ({ username, password }: URL): string => `"${username}" "${password}"\n`;

function configOf(server: URL, port: number, { mode, poolSize, directory, ignoredParameters }: PgBouncerOptions) {
  return `
    [databases]
    * = host=${server.hostname} port=${server.port}

    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${port}
    unix_socket_dir =
    pool_mode = ${mode}
    default_pool_size = ${poolSize}
    max_client_conn = 2000
    auth_type = scram-sha-256
    auth_file = ${directory}/users.txt
    auth_user = ${server.username}
    auth_query = select usename, passwd from pg_shadow where usename = $1
    ${ignoredParameters === undefined ? '' : `ignore_startup_parameters = ${ignoredParameters}`}
  `.replaceAll(/^ +/gm, '');
}

async function acceptsConnections(process: ManagedProcess, url: string): Promise<true | undefined> {
  if (!process.running) throw new Error(`PgBouncer did not start:\n${await process.lastLogLines(20)}`);
  return withClient(url, (client) => client.query('select')).then(
    () => true,
    () => undefined,
  );
}
