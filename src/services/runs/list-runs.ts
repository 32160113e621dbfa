import type { Queryable } from '../../db/connection/pool';
import type { RunKind } from '../../domain/daily-runs';

export interface ListedRun {
  readonly kind: RunKind;
  /** In WIB. */
  readonly day: string;
  readonly startedAt: Date;
  /** Null: it runs, or it was terminated. */
  readonly finishedAt: Date | null;
  readonly isComplete: boolean;
  readonly done: number;
  readonly failedCount: number;
  /** The first of those that failed. */
  readonly failed: readonly string[];
  /** Why the run failed as a whole. */
  readonly failure: string | null;
}

/** The runs of a kind, or of all, the newest first. */
export async function listRuns(
  db: Queryable,
  { kind, limit }: { readonly kind: RunKind | null; readonly limit: number },
): Promise<ListedRun[]> {
  const { rows } = await db.query<ListedRun>(
    `select kind, day::text, started_at as "startedAt", finished_at as "finishedAt", is_complete as "isComplete",
       done_count as done, failed_count as "failedCount", failed, failure
     from daily_runs where $1::text is null or kind = $1 order by started_at desc, kind limit $2`,
    [kind, limit],
  );
  return rows;
}
