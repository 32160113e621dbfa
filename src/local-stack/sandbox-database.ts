import path from 'node:path';
import { createDirectory } from './create-directory';
import { lockDataDirectory, unlockDataDirectory, type DataDirectory } from './data-directory';
import { freePort } from './ports';
import { ensureDatabase, PostgresCluster } from './postgres';
import { removeRunFile, writeRunFile } from './run-file';
import { Supervisor } from './supervisor';

const DATABASE = 'sandbox';
const SERVER = 'postgres';

/** The ledger of a sandbox that runs alone. */
export interface SandboxDatabase {
  readonly databaseUrl: string;
  /** Writes `run.json`, in which other commands find the sandbox. */
  publishUrl(sandboxUrl: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Locks the data directory for a sandbox that runs alone, and starts its ledger: a PostgreSQL server under
 * `LUNAS_HOME/sandbox`, at a free port. The server is restarted if it ends unexpectedly.
 * @param log receives one line for each unexpected end and each restart of the server
 * @throws UserError if another process has locked the data directory, or PostgreSQL does not start
 */
export async function startSandboxDatabase(
  dataDirectory: DataDirectory,
  log: (line: string) => void,
): Promise<SandboxDatabase> {
  await lockDataDirectory(dataDirectory);
  const supervisor = new Supervisor(log);
  const stop = async () => {
    await removeRunFile(dataDirectory);
    await supervisor.stop(SERVER);
    await unlockDataDirectory(dataDirectory);
  };
  try {
    const databaseUrl = await startPostgres(dataDirectory, supervisor);
    return {
      databaseUrl,
      publishUrl: (sandboxUrl) => writeRunFile(dataDirectory, { sandbox_url: sandboxUrl, pid: process.pid }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startPostgres(dataDirectory: DataDirectory, supervisor: Supervisor): Promise<string> {
  const parent = path.join(dataDirectory.path, 'sandbox');
  await createDirectory(parent, 0o700);
  const files = { directory: path.join(parent, 'postgres'), logFile: path.join(parent, 'postgres.log') };
  const never = new AbortController().signal;
  const cluster = await PostgresCluster.open({ ...files, port: await freePort() }, never);
  await supervisor.start(SERVER, (signal) => cluster.start(signal), never);
  await ensureDatabase(cluster.databaseUrl('postgres'), DATABASE);
  return cluster.databaseUrl(DATABASE);
}
