import { z } from 'zod';
import { migrate } from '../../db/migrate';
import { explainDatabaseError } from '../database-error';
import type { LunasCommand } from '../lunas-command';

export function addMigrateCommand(program: LunasCommand): void {
  program
    .command('migrate')
    .description('apply all migrations of this version to the database')
    .checkedAction(z.object({}), async (_, context) => {
      const databaseUrl = await context.databaseUrl();
      const onLocked = () => program.terminal.stderr.write('Another transaction holds a lock; retrying.\n');
      const migrations = await migrate(databaseUrl, onLocked).catch((error: unknown) => {
        throw explainDatabaseError(error, databaseUrl);
      });
      const text = migrations.length === 0 ? 'The schema is up to date.' : `Applied ${migrations.join(', ')}.`;
      return { json: { migrations }, text };
    });
}
