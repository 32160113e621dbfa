import path from 'node:path';
import { PACKAGE_ROOT } from '../package';

const MIGRATIONS_FOLDER = path.join(PACKAGE_ROOT, 'src', 'db', 'migrations');

/**
 * Brings the database to the newest schema: numbered SQL files, each in a transaction, under an advisory lock.
 * @returns the names of the migrations that were applied now, in order
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const { runner } = await import('node-pg-migrate');
  const applied = await runner({
    databaseUrl,
    dir: MIGRATIONS_FOLDER,
    direction: 'up',
    migrationsTable: 'schema_migrations',
    advisoryLockMode: 'wait',
    log: () => undefined,
  });
  return applied.map((migration) => migration.name);
}
