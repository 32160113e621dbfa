import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from './pool';

/** A session that waits for a lock, and the session that it waits for. */
export interface LockWait {
  /** The lock that a migration holds, or that of a table. */
  readonly kind: 'migration' | 'table';
  /** Null: the wait is for a row or for another transaction. */
  readonly table: string | null;
  /** 0: a prepared transaction, which has no session. */
  readonly blockerPid: number;
  readonly applicationName: string | null;
  readonly role: string | null;
  /** Start of the transaction. Null: it has none, or PostgreSQL shows it to members of `pg_read_all_stats` only. */
  readonly since: Date | null;
}

/** Several times within the shortest `lock_timeout` of a migration, 500 ms. */
const READ_INTERVAL_MS = 100;

/** PostgreSQL reports the end of a wait without the table and without the other session. */
const FIND_LOCK_WAIT = `
  select case waiting.locktype when 'advisory' then 'migration' else 'table' end as kind,
    waiting.relation::regclass::text as "table", blocker.pid as "blockerPid",
    nullif(activity.application_name, '') as "applicationName", activity.usename as role, activity.xact_start as since
  from pg_locks waiting
  cross join unnest(pg_blocking_pids(waiting.pid)) as blocker (pid)
  left join pg_stat_activity activity on activity.pid = blocker.pid
  where waiting.pid = $1 and not waiting.granted
  order by activity.xact_start nulls last
  limit 1`;

/**
 * Does the work of a session, and reads with another one what its locks wait for.
 * @param pid of the session that does the work
 * @returns the last wait; undefined if there was none, or if it could not be read
 */
export async function observeLockWaits(
  db: Queryable,
  pid: number,
  work: () => Promise<void>,
): Promise<{ readonly error?: unknown; readonly lastWait: LockWait | undefined }> {
  const over = new AbortController();
  const observed = readLockWaits(db, pid, over.signal).catch(() => undefined);
  try {
    await work();
    return { lastWait: undefined };
  } catch (error) {
    over.abort();
    return { error, lastWait: await observed };
  } finally {
    over.abort();
    await observed;
  }
}

async function readLockWaits(db: Queryable, pid: number, over: AbortSignal): Promise<LockWait | undefined> {
  let last: LockWait | undefined;
  while (!over.aborted) {
    const { rows } = await db.query<LockWait>(FIND_LOCK_WAIT, [pid]);
    last = rows[0] ?? last;
    await sleep(READ_INTERVAL_MS, undefined, { signal: over }).catch(() => undefined);
  }
  return last;
}

/** Names the lock, the session that holds it, and what to do. */
export function describeLockWait({ kind, table, blockerPid, applicationName, role, since }: LockWait): string {
  const holder = blockerPid === 0 ? 'A prepared transaction' : `Session ${blockerPid}`;
  const details = [
    applicationName === null ? 'no application name' : `application ${JSON.stringify(applicationName)}`,
    ...(role === null ? [] : [`role ${role}`]),
    since === null ? 'start not known' : `transaction since ${since.toISOString()}`,
  ].join(', ');
  if (kind === 'migration') {
    return `${holder} (${details}) runs another migration. Wait for its end, and migrate again.`;
  }
  const lock = table === null ? 'a lock that the migration needs' : `a lock on the table ${table}`;
  const remedy =
    blockerPid === 0
      ? 'Commit it or roll it back (`pg_prepared_xacts`)'
      : `Wait for its end, or end it with \`select pg_terminate_backend(${blockerPid})\``;
  return `${holder} (${details}) holds ${lock}. ${remedy}, and migrate again.`;
}
