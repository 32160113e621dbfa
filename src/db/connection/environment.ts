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

/** The cell that the database records. */
export async function findCell(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ cell: string }>('select cell from installation');
  return onlyRow(rows, 'The database records no cell').cell;
}

/**
 * Records environment and cell, permanently.
 * @throws UserError if the database has recorded the other environment meanwhile
 */
export async function recordInstallation(db: Queryable, environment: Environment, cell: string): Promise<void> {
  const text = 'insert into installation (environment, cell) values ($1, $2) on conflict do nothing';
  await db.query(text, [environment, cell]);
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
