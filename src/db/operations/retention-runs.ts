import { z } from 'zod';
import type { ExpiringData, RetentionPosition, RetentionRun } from '../../domain/retention';
import type { Queryable } from '../connection/pool';

const positionSchema = z.array(z.string());

/** Where the next run begins to examine this kind of data; undefined if no run has reached a row of it. */
export async function findRetentionPosition(db: Queryable, data: ExpiringData): Promise<RetentionPosition | undefined> {
  const { rows } = await db.query<{ position: unknown }>(
    'select positions -> $1 as position from retention_runs where positions ? $1 order by id desc limit 1',
    [data],
  );
  return rows[0] && positionSchema.parse(rows[0].position);
}

/** Records a run. A repeated call records it once. */
export async function recordRetentionRun(db: Queryable, run: RetentionRun): Promise<void> {
  await db.query(
    `insert into retention_runs (started_at, is_complete, deleted, positions) values ($1, $2, $3, $4)
     on conflict (started_at) do nothing`,
    [new Date(run.startedAtMs), run.isComplete, JSON.stringify(run.deleted), JSON.stringify(run.positions)],
  );
}
