import path from 'node:path';
import type { Home } from './home';
import { makeFolder } from './make-folder';
import { freePort } from './ports';
import { ensureDatabase, PostgresCluster } from './postgres';

const DATABASE = 'sandbox';

export interface SandboxDatabase {
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

/** The ledger of a sandbox that runs alone: a PostgreSQL of its own under `LUNAS_HOME/sandbox`, at a free port. */
export async function startSandboxDatabase(home: Home): Promise<SandboxDatabase> {
  const parent = path.join(home.folder, 'sandbox');
  await makeFolder(parent, 0o700);
  const folder = path.join(parent, 'postgres');
  const logFile = path.join(parent, 'postgres.log');
  const never = new AbortController().signal;
  const cluster = await PostgresCluster.open({ folder, logFile, port: await freePort() }, never);
  const server = await cluster.start(never);
  await ensureDatabase(cluster.databaseUrl('postgres'), DATABASE);
  return { databaseUrl: cluster.databaseUrl(DATABASE), stop: () => server.stop() };
}
