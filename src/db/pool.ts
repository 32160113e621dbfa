import { Pool, TypeOverrides, type PoolConfig } from 'pg';

export type { Pool };

/** Anything that runs a statement: the pool, or one client of it. */
export type Queryable = Pick<Pool, 'query'>;

type PoolOptions = Pick<PoolConfig, 'max' | 'connectionTimeoutMillis' | 'idleTimeoutMillis' | 'statement_timeout'>;

const INT8 = 20;

/**
 * A pool whose bigints are JavaScript integers: money stays far below 2^53, which the parser checks.
 * Unless told otherwise, the server abandons statements after 15 s, so that no request hangs on the database.
 */
export function createPool(databaseUrl: string, options: PoolOptions = {}): Pool {
  const types = new TypeOverrides();
  types.setTypeParser(INT8, parseSafeInteger);
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 20,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 15_000,
    application_name: 'lunas',
    types,
    ...options,
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
