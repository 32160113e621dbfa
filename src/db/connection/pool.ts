import { Pool, TypeOverrides, type PoolConfig } from 'pg';
import { statementLimit } from '../../lib/pooler';

export type { Pool };

/** Runs statements: the pool, or one of its clients. */
export type Queryable = Pick<Pool, 'query'>;

interface PoolOptions extends Pick<PoolConfig, 'max' | 'idleTimeoutMillis'> {
  /** For a connection from the pool, idle or new. */
  readonly connectionTimeoutMs?: number;
  /**
   * For a statement, enforced by the server. If the server does not respond, the client aborts a second later. Behind a
   * pooler in transaction mode, the server enforces that of the role instead.
   */
  readonly statementTimeoutMs?: number;
}

/**
 * For a statement of an operator's command over all payments (recover, reconcile, verify). A page takes milliseconds.
 * On a slow database this limits each statement, and so the age of its snapshot.
 */
export const LONG_STATEMENT_MS = 60_000;

const INT8 = 20;

/** After the server's timeout: the network lost the statement or its result. */
const LOST_RESULT_DELAY_MS = 1_000;

/**
 * A pool whose bigints are JavaScript integers: money is far below 2^53, which the parser checks.
 * Every call has a timeout, also if the server is slow or the network loses its packets. node-postgres never reuses the
 * connection of a failed statement.
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
    ...statementLimit(databaseUrl, statementTimeoutMs),
    query_timeout: statementTimeoutMs + LOST_RESULT_DELAY_MS,
    application_name: 'lunas',
    types,
    ...options,
  });
  // The pool removes an idle connection that is lost. The next query opens another one and reports the error.
  pool.on('error', () => undefined);
  return pool;
}

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`bigint ${text} is beyond 2^53`);
  return value;
}
