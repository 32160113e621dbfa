import { Pool, TypeOverrides, type PoolConfig } from 'pg';

export type { Pool };

/** Anything that runs a statement: the pool, or one client of it. */
export type Queryable = Pick<Pool, 'query'>;

const INT8 = 20;

/**
 * A pool whose bigints are JavaScript integers: money stays far below 2^53, which the parser checks.
 * Statements are abandoned by the server after 15 s, so that no request hangs on the database.
 */
export function createPool(databaseUrl: string, options: Pick<PoolConfig, 'max'> = {}): Pool {
  const types = new TypeOverrides();
  types.setTypeParser(INT8, parseSafeInteger);
  const pool = new Pool({
    connectionString: databaseUrl,
    max: options.max ?? 20,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 15_000,
    application_name: 'lunas',
    types,
  });
  // An idle connection that breaks is dropped by the pool; the next query opens another and reports what is wrong.
  pool.on('error', () => undefined);
  return pool;
}

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`bigint ${text} is beyond 2^53`);
  return value;
}
