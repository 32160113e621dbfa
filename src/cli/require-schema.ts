import { UserError } from '../errors';
import { compareSchema, type SchemaDifference } from '../db/migrate';
import type { Logger } from '../logger';

/**
 * Compares the schema before a process starts. A newer schema is accepted: migrations are additive, so old and new
 * processes can run together during a deployment. An unavailable database is accepted too: a process that restarts
 * during an outage must run when the database is available again.
 * @throws UserError if the database lacks a migration of this version
 */
export async function requireSchema(databaseUrl: string, log: Logger): Promise<void> {
  const { missing, unknown } = await compareSchema(databaseUrl).catch((error: unknown): SchemaDifference => {
    log.warn({ err: error }, 'database schema not compared with this version');
    return { missing: [], unknown: [] };
  });
  if (missing.length > 0) {
    throw new UserError(
      `The database lacks migrations of this version (${missing.join(', ')}). Run \`lunas migrate\`.`,
    );
  }
  if (unknown.length > 0) log.warn({ migrations: unknown }, 'database schema newer than this version');
}
