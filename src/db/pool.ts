import { Pool, TypeOverrides, type PoolConfig } from 'pg';

export type { Pool };

/** Anything that runs a statement: the pool, or one client of it. */
export type Queryable = Pick<Pool, 'query'>;

interface PoolOptions extends Pick<PoolConfig, 'max' | 'idleTimeoutMillis'> {
  /** For a connection, a free or a new one. */
  readonly connectionTimeoutMs?: number;
  /** For a statement, on the server's clock; a server that does not even say so is given up a second later. */
  readonly statementTimeoutMs?: number;
}

/**
 * For a statement of an operator's tool over all payments (recover, reconcile, verify). Their pages take milliseconds; this bounds
 * each of them on a database in trouble, and so its snapshot.
 */
export const LONG_STATEMENT_MS = 60_000;

const INT8 = 20;

/** The network has swallowed the statement or its answer. */
const KEEP_ALIVE_DELAY_MS = 1_000;

/**
 * A pool whose bigints are JavaScript integers: money stays far below 2^53, which the parser checks.
 * Nothing hangs on the database: not on one that is slow, nor on one that is gone without a word. The connection of a
 * statement that failed is never used again (node-postgres).
 */
export function createPool(
  databaseUrl: string,
  { connectionTimeoutMs = 5_000, statementTimeoutMs = 15_000, ...options }: PoolOptions = {},
): Pool {
  const types = new TypeOverrides();
  types.setTypeParser(INT8, parseSafeInteger);
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 20,
    connectionTimeoutMillis: connectionTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + KEEP_ALIVE_DELAY_MS,
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
