import { z } from 'zod';
import { readEnvironment } from '../../db/environment';
import { migrate } from '../../db/migrate';
import type { CommandContext } from '../command-context';
import { explainDatabaseError } from '../database-error';
import { type LunasCommand, requireOwnSettings } from '../lunas-command';
import { requireRules } from '../rules/rule';
import { SETTINGS_RULES } from '../rules/settings-rules';

export function addMigrateCommand(program: LunasCommand): void {
  const onLocked = () => program.terminal.stderr.write('Another transaction holds a lock; retrying.\n');
  program
    .command('migrate')
    .description('apply all migrations of this version to the database')
    .checkedAction(z.object({}), async (_, context) => {
      const databaseUrl = await context.databaseUrl();
      await requireOwnSettings(context);
      try {
        await requireRecordedSettings(context, databaseUrl);
        const migrations = await migrate(databaseUrl, await context.environment(), onLocked);
        const text = migrations.length === 0 ? 'The schema is up to date.' : `Applied ${migrations.join(', ')}.`;
        return { json: { migrations }, text };
      } catch (error) {
        throw explainDatabaseError(error, databaseUrl);
      }
    });
}

/** Before its first migration, the database records no environment that could be compared. */
async function requireRecordedSettings(context: CommandContext, databaseUrl: string): Promise<void> {
  const recorded = await readEnvironment(databaseUrl);
  if (recorded !== null) await requireRules(SETTINGS_RULES, await context.settings(recorded));
}
