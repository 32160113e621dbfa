import type { Environment } from '../../config';
import { codeOf, UserError } from '../../errors';
import { createPool, type Queryable } from './pool';
import { onlyRow } from './require-row';

const UNDEFINED_TABLE = '42P01';

/** The environment that the database records; null before its first migration. */
export async function findEnvironment(db: Queryable): Promise<Environment | null> {
  try {
    const { rows } = await db.query<{ environment: Environment }>('select environment from installation');
    return rows[0]?.environment ?? null;
  } catch (error) {
    if (codeOf(error) === UNDEFINED_TABLE) return null;
    throw error;
  }
}

/** Finds the environment of a database with a connection of its own. */
export async function readEnvironment(databaseUrl: string): Promise<Environment | null> {
  const db = createPool(databaseUrl, { max: 1 });
  try {
    return await findEnvironment(db);
  } finally {
    await db.end();
  }
}

/** Records the environment, permanently. @throws UserError if the database has recorded the other one meanwhile */
export async function recordEnvironment(db: Queryable, environment: Environment): Promise<void> {
  await db.query('insert into installation (environment) values ($1) on conflict do nothing', [environment]);
  const { rows } = await db.query<{ environment: Environment }>('select environment from installation');
  const recorded = onlyRow(rows, 'The environment was not written').environment;
  const mismatch = environmentMismatch(environment, recorded);
  if (mismatch !== null) throw new UserError(mismatch);
}

/** How the environment of this process differs from that of the database, as a sentence; null if it does not. */
export function environmentMismatch(own: Environment | undefined, recorded: Environment | null): string | null {
  if (own === undefined || recorded === null || own === recorded) return null;
  return `This is a ${recorded} database, but the environment of this process is ${own}.`;
}
