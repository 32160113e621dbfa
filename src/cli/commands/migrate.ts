import { z } from 'zod';
import { directDatabaseUrl } from '../../config';
import { readEnvironment } from '../../db/connection/environment';
import { migrate } from '../../db/connection/migrate';
import type { CommandContext } from '../command-context';
import { explainDatabaseError } from '../database-error';
import type { LunasCommand } from '../lunas-command';
import { requireRules } from '../rules/rule';
import { SETTINGS_RULES, type Settings } from '../rules/settings-rules';

export function defineMigrate(command: LunasCommand): void {
  command.checkedAction(z.object({}), async (_, context) => {
    const databaseUrl = directDatabaseUrl(context.config) ?? (await context.databaseUrl());
    await requireSettingsOf(context, databaseUrl, undefined);
    try {
      await requireSettingsOf(context, databaseUrl, await readEnvironment(databaseUrl));
      const migrations = await migrate(databaseUrl, await context.environment(), context.config.LUNAS_CELL);
      const text = migrations.length === 0 ? 'The schema is up to date.' : `Applied ${migrations.join(', ')}.`;
      return { json: { migrations }, text };
    } catch (error) {
      throw explainDatabaseError(error, databaseUrl);
    }
  });
}

/**
 * @param recorded the environment of the database; undefined before the first connection, which may have no TLS; null
 *   before its first migration
 */
async function requireSettingsOf(
  context: CommandContext,
  databaseUrl: string,
  recorded: Settings['recordedEnvironment'],
): Promise<void> {
  const settings = { ...(await context.settings(recorded)), databaseUrl };
  if (recorded === undefined ? settings.environment !== undefined : recorded !== null) {
    await requireRules(SETTINGS_RULES, settings);
  }
}
