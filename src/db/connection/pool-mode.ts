import type { PoolClient } from 'pg';
import { poolModeOf } from '../../lib/pooler';
import { createPool, type Pool, type Queryable } from './pool';
import { onlyRow } from './require-row';

/** The message of PgBouncer for a connection that begins with the time limit of its statements. */
const REJECTED_SETTING = /unsupported startup parameter: \w+/;

/** What PgBouncer wrote if it rejected the settings of a connection, so that `DATABASE_POOLER` is wrong; else null. */
export function rejectedSetting(message: string): string | null {
  return REJECTED_SETTING.exec(message)?.[0] ?? null;
}

/** A start does not wait long for a pooler whose connections are all in use. */
const CHECK_TIMEOUT_MS = 2_000;

/**
 * What prevents statements from running through the pooler at this address, as a sentence. Null if nothing does, and if
 * there is no connection: a process that restarts during an outage has to start.
 */
export async function poolModeViolation(databaseUrl: string): Promise<string | null> {
  const pool = createPool(databaseUrl, { max: 2, statementTimeoutMs: CHECK_TIMEOUT_MS });
  try {
    return await (poolModeOf(databaseUrl) === 'transaction' ? limitViolation(pool) : sharingViolation(pool));
  } catch {
    return null;
  } finally {
    await pool.end();
  }
}

async function limitViolation(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ role: string; limit: string }>(
    `select current_user as role, current_setting('statement_timeout') as limit`,
  );
  const { role, limit } = onlyRow(rows);
  return limit === '0' ? `The role ${role} has no statement_timeout, which a pooler in transaction mode needs.` : null;
}

/** Two open connections have one process of the server only if the pooler chooses it for each statement. */
async function sharingViolation(pool: Pool): Promise<string | null> {
  const clients: PoolClient[] = [];
  const processes = new Set<number>();
  try {
    while (clients.length < 2) {
      const client = await pool.connect();
      clients.push(client);
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      processes.add(onlyRow(rows).pid);
    }
    return processes.size === 1 ? 'A pooler in transaction mode is between this process and PostgreSQL.' : null;
  } finally {
    for (const client of clients) client.release();
  }
}
