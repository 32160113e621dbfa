import { dashboardUrlOf } from '../../config';
import { KeyRing } from '../../crypto/master-keys';
import { findEnvironment } from '../../db/connection/environment';
import { compareSchema } from '../../db/connection/migrate';
import { createPool, type Pool } from '../../db/connection/pool';
import { codeOf, messageOf } from '../../errors';
import type { ConnectionFailure } from '../../temporal/probe-connection';
import type { CheckedRequirement } from '../../temporal/requirements';
import type { UnpolledTaskQueue } from '../../temporal/task-queue-polls';
import { withTemporalAccess, withTemporalCalls, type CommandContext } from '../command-context';
import type { CheckedProcess, Installation } from './installation-rules';
import type { Settings } from './settings-rules';

/** The settings of a process, before it connects to its database. */
export async function serviceSettings(context: CommandContext, process: CheckedProcess): Promise<Settings> {
  return {
    ...(await context.settings(undefined)),
    publicBaseUrl: context.publicBaseUrl(),
    ...(process === 'dashboard' && { dashboardUrl: dashboardUrlOf(context.config) }),
  };
}

/** Reads what the rules of an installation check, and closes the database afterwards. */
export async function withInstallation<T>(
  context: CommandContext,
  process: CheckedProcess,
  work: (installation: Installation) => Promise<T>,
): Promise<T> {
  const settings = await serviceSettings(context, process);
  const db = createPool(settings.databaseUrl ?? '', { max: 1 });
  let connection: Promise<ConnectionFailure | null> | undefined;
  try {
    const read = settings.databaseUrl === undefined ? NO_ADDRESS : await readDatabase(db, settings.databaseUrl);
    const { recordedEnvironment, ...database } = read;
    return await work({
      ...settings,
      process,
      recordedEnvironment,
      ...database,
      checkTemporal: () => checkTemporal(context),
      listUnpolled: (hasPayouts) => listUnpolled(context, hasPayouts),
      temporalConnection: () => (connection ??= findConnectionFailure(context)),
      masterKeys: async () => new KeyRing(await context.masterKey(), context.oldMasterKeys),
    });
  } finally {
    await db.end();
  }
}

type DatabaseState = Pick<Installation, 'database' | 'databaseError' | 'recordedEnvironment'>;

const NO_ADDRESS: DatabaseState = {
  database: null,
  databaseError: 'DATABASE_URL is not set, and no local stack runs.',
  recordedEnvironment: undefined,
};

async function readDatabase(db: Pool, databaseUrl: string): Promise<DatabaseState> {
  try {
    const schema = await compareSchema(databaseUrl);
    return { database: { db, schema }, databaseError: null, recordedEnvironment: await findEnvironment(db) };
  } catch (error) {
    const databaseError = `The database is not available: ${messageOf(error)} (${codeOf(error) ?? 'no code'}).`;
    return { database: null, databaseError, recordedEnvironment: undefined };
  }
}

async function checkTemporal(context: CommandContext): Promise<readonly CheckedRequirement[]> {
  const { checkRequirements } = await import('../../temporal/requirements.js');
  return withTemporalAccess(await context.temporal(), checkRequirements);
}

async function listUnpolled(context: CommandContext, hasPayouts: boolean): Promise<readonly UnpolledTaskQueue[]> {
  const { listUnpolledTaskQueues } = await import('../../temporal/task-queue-polls.js');
  return withTemporalCalls(context, (client) => listUnpolledTaskQueues(client, hasPayouts));
}

/** Null also if it is not known where Temporal is, or a file of a certificate cannot be read: others report that. */
async function findConnectionFailure(context: CommandContext): Promise<ConnectionFailure | null> {
  const target = await context.temporal().catch(() => null);
  if (target?.security.tls === undefined) return null;
  const { probeTarget } = await import('../../temporal/connection.js');
  const { connectionFailure } = await import('../../temporal/probe-connection.js');
  return connectionFailure(probeTarget(target));
}
