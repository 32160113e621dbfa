import type { Command } from 'commander';
import { z } from 'zod';
import { migrate } from '../../db/migrate';
import { defineAction } from '../command-action';
import { explainDatabaseError } from '../database-error';
import type { Terminal } from '../terminal';

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  const command = program.command('migrate').description('apply all migrations of this version to the database');
  defineAction(command, terminal, z.object({}), async (_, context) => {
    const databaseUrl = await context.databaseUrl();
    const onLocked = () => terminal.stderr.write('Another transaction holds a lock; retrying.\n');
    const migrations = await migrate(databaseUrl, onLocked).catch((error: unknown) => {
      throw explainDatabaseError(error, databaseUrl);
    });
    const text = migrations.length === 0 ? 'The schema is up to date.' : `Applied ${migrations.join(', ')}.`;
    return { json: { migrations }, text };
  });
}
