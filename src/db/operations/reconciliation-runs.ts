import type { PartCoverage } from '../../domain/reconciliation';
import type { Queryable } from '../connection/pool';

/** The start of the last complete run; undefined if there is none. */
export async function findLastReconciliationStart(db: Queryable): Promise<Date | undefined> {
  const { rows } = await db.query<{ startedAt: Date }>({
    name: 'find_last_reconciliation_start',
    text: `select started_at as "startedAt" from reconciliation_runs where is_complete order by id desc limit 1`,
  });
  return rows[0]?.startedAt;
}

export interface ReconciliationRun {
  readonly startedAt: Date;
  readonly changedSince: Date;
  /** The provider was asked about every payment. */
  readonly isComplete: boolean;
  readonly parts: readonly PartCoverage[];
}

/** Records the coverage of a run. A repeated call records it once. */
export async function recordReconciliationRun(db: Queryable, run: ReconciliationRun): Promise<void> {
  await db.query({
    name: 'record_reconciliation_run',
    text: `insert into reconciliation_runs (started_at, changed_since, is_complete, coverage) values ($1, $2, $3, $4)
      on conflict (started_at) do nothing`,
    values: [run.startedAt, run.changedSince, run.isComplete, JSON.stringify(run.parts)],
  });
}
