import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../config';
import type { Logger } from '../../observability/logger';
import type { CommandContext } from '../command-context';
import { serviceSettings, withInstallation } from './installation';
import { INSTALLATION_RULES, type CheckedProcess, type Installation } from './installation-rules';
import { requireRules } from './rule';
import { logRuntimeWarnings } from './runtime-rules';
import { SETTINGS_RULES } from './settings-rules';

const RECHECK_INTERVAL_MS = 1_000;

/**
 * Checks the rules of a service process before it starts. A newer schema is accepted: migrations are additive, so old
 * and new processes can run together during a deployment. An unavailable database is accepted too, if the environment
 * is known: a process that restarts during an outage must run when the database is available again. The rules are
 * checked then, and a broken one ends the process.
 * @returns the environment of the process
 * @throws UserError with the first broken rule
 */
export async function requireInstallation(
  context: CommandContext,
  process: Exclude<CheckedProcess, 'doctor'>,
  log: Logger,
): Promise<Environment> {
  const settings = await serviceSettings(context, process);
  // Before the first connection, which may not have TLS.
  if (settings.environment !== undefined) await requireRules(SETTINGS_RULES, settings);
  return withInstallation(context, process, async (installation) => {
    await requireAllRules(installation);
    const { database, databaseError, recordedEnvironment, environment = recordedEnvironment } = installation;
    if (database === null) {
      log.warn({ reason: databaseError }, 'database not compared with this process; compared when it is available');
      void requireWhenAvailable(context, process);
    } else if (database.schema.unknown.length > 0) {
      log.warn({ migrations: database.schema.unknown }, 'database schema newer than this version');
    }
    const temporal = await installation.temporalConnection();
    if (temporal) log.warn({ reason: temporal.message }, 'Temporal not available');
    // The rule `environment` requires it.
    if (!environment) throw new Error('The environment is not known');
    await logRuntimeWarnings(log);
    return environment;
  });
}

async function requireAllRules(installation: Installation): Promise<void> {
  await requireRules(INSTALLATION_RULES, installation);
  await requireRules(SETTINGS_RULES, installation);
}

/** An error is an unhandled rejection, which ends the process (`runService`). */
async function requireWhenAvailable(context: CommandContext, process: CheckedProcess): Promise<void> {
  for (let isAvailable = false; !isAvailable;) {
    await sleep(RECHECK_INTERVAL_MS, undefined, { ref: false });
    isAvailable = await withInstallation(context, process, async (installation) => {
      await requireAllRules(installation);
      return installation.database !== null;
    });
  }
}
