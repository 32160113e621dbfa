import path from 'node:path';
import { closeHome, type Home, openHome, removeRun, writeRun } from './home';
import { makeFolder } from './make-folder';
import { freePort } from './ports';
import { ensureDatabase, PostgresCluster } from './postgres';
import { Supervisor } from './supervisor';

const DATABASE = 'sandbox';
const SERVER = 'postgres';

/** The ledger of a sandbox, and how other commands learn that the sandbox runs. */
export interface SandboxDatabase {
  readonly databaseUrl: string;
  /** Writes `run.json`. */
  announce(sandboxUrl: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Takes the home for a sandbox that runs alone, and starts its ledger: a PostgreSQL of its own under
 * `LUNAS_HOME/sandbox`, at a free port. A server that ends unexpectedly is started again.
 * @param say receives one line for each unexpected end and each restart of the server
 * @throws UserError where another process has the home, or PostgreSQL does not start
 */
export async function startSandboxDatabase(home: Home, say: (line: string) => void): Promise<SandboxDatabase> {
  await openHome(home);
  const supervisor = new Supervisor(say);
  const stop = async () => {
    await removeRun(home);
    await supervisor.stop(SERVER);
    await closeHome(home);
  };
  try {
    const databaseUrl = await startPostgres(home, supervisor);
    return {
      databaseUrl,
      announce: (sandboxUrl) => writeRun(home, { sandbox_url: sandboxUrl, pid: process.pid }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startPostgres(home: Home, supervisor: Supervisor): Promise<string> {
  const parent = path.join(home.folder, 'sandbox');
  await makeFolder(parent, 0o700);
  const files = { folder: path.join(parent, 'postgres'), logFile: path.join(parent, 'postgres.log') };
  const never = new AbortController().signal;
  const cluster = await PostgresCluster.open({ ...files, port: await freePort() }, never);
  await supervisor.start(SERVER, (signal) => cluster.start(signal), never);
  await ensureDatabase(cluster.databaseUrl('postgres'), DATABASE);
  return cluster.databaseUrl(DATABASE);
}
