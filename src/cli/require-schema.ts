import { UserError } from '../errors';
import { compareSchema, type SchemaDifference } from '../db/migrate';
import type { Logger } from '../logger';

/**
 * Compares the schema before a process serves. A newer schema is no obstacle: migrations are additive, so that old and new
 * processes can run beside each other during a deployment. Nor is a database that does not answer: a process that restarts during
 * its outage must be there when it is back.
 * @throws UserError when the database lacks a migration of this version
 */
export async function requireSchema(databaseUrl: string, log: Logger): Promise<void> {
  const { missing, unknown } = await compareSchema(databaseUrl).catch((error: unknown): SchemaDifference => {
    log.warn({ err: error }, 'the schema of the database could not be compared with this version');
    return { missing: [], unknown: [] };
  });
  if (missing.length > 0) {
    throw new UserError(
      `The database lacks migrations of this version (${missing.join(', ')}). Run \`lunas migrate\`.`,
    );
  }
  if (unknown.length > 0) log.warn({ migrations: unknown }, 'the database is newer than this version');
}
