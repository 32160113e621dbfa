import type { EndedRun, StartedRun } from '../../domain/daily-runs';
import type { Queryable } from '../connection/pool';
import { bindStatement, prepareStatement } from '../connection/statement';

/** The names that a row has at most; their number is in `failed_count`. */
const MAX_FAILED = 100;

const BEGIN = prepareStatement(
  'begin_daily_run',
  ['kind', 'startedAt'],
  'insert into daily_runs (kind, started_at) values (:kind, :startedAt) on conflict do nothing',
);

const FINISH = prepareStatement(
  'finish_daily_run',
  ['kind', 'startedAt', 'finishedAt', 'isComplete', 'done', 'failedCount', 'failed', 'failure'],
  `insert into daily_runs (kind, started_at, finished_at, is_complete, done_count, failed_count, failed, failure)
   values (:kind, :startedAt, :finishedAt, :isComplete, :done, :failedCount, :failed, :failure)
   on conflict (kind, started_at) do update set finished_at = excluded.finished_at,
     is_complete = excluded.is_complete, done_count = excluded.done_count, failed_count = excluded.failed_count,
     failed = excluded.failed, failure = excluded.failure
   where daily_runs.finished_at is null`,
);

export const DAILY_RUN_STATEMENTS = [BEGIN, FINISH] as const;

/** A repeated call changes nothing. */
export async function beginDailyRun(db: Queryable, { kind, startedAtMs }: StartedRun): Promise<void> {
  await db.query(bindStatement(BEGIN, { kind, startedAt: new Date(startedAtMs) }));
}

/** A run that is finished stays as it is. */
export async function finishDailyRun(
  db: Queryable,
  { startedAtMs, finishedAtMs, failed, ...run }: EndedRun,
): Promise<void> {
  await db.query(
    bindStatement(FINISH, {
      ...run,
      startedAt: new Date(startedAtMs),
      finishedAt: new Date(finishedAtMs),
      failedCount: failed.length,
      failed: failed.slice(0, MAX_FAILED),
    }),
  );
}
