import type { Config } from '../config';
import { readEnvironment } from '../db/connection/environment';
import { UserError } from '../errors';

const ADVICE = 'The local stack, its demo data and the sandbox run only in a sandbox.';

/** @throws UserError if `LUNAS_ENVIRONMENT` is production */
export function assertSandbox({ LUNAS_ENVIRONMENT }: Pick<Config, 'LUNAS_ENVIRONMENT'>): void {
  if (LUNAS_ENVIRONMENT === 'production') throw new UserError(`LUNAS_ENVIRONMENT is production. ${ADVICE}`);
}

/**
 * Reads and changes nothing else. A database that is not available or not migrated is not known to be of production.
 * @throws UserError if the database records production
 */
export async function assertSandboxDatabase(databaseUrl: string): Promise<void> {
  const recorded = await readEnvironment(databaseUrl).catch(() => null);
  if (recorded === 'production') throw new UserError(`DATABASE_URL is a production database. ${ADVICE}`);
}
