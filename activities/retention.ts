import { deleteExpiredRows } from '../src/db/operations/expired-rows';
import { findRetentionPosition, recordRetentionRun } from '../src/db/operations/retention-runs';
import type { ExpiringData, RetentionPosition, RetentionRun, RetentionSlice } from '../src/domain/retention';
import type { ActivityDependencies } from './dependencies';
import { unchecked } from './verify-terms';

const DAY_MS = 86_400_000;
const SLICE_MS = 20_000;

export interface RetentionInput {
  readonly data: ExpiringData;
  readonly nowMs: number;
  /** Where the previous part ended. Undefined: this is the first one, and begins where the last run ended. */
  readonly from?: RetentionPosition;
}

/** Deletes what is older than its retention, for a limited time. */
export async function deleteExpired(
  { db, retentionDays }: ActivityDependencies,
  { data, nowMs, from }: RetentionInput,
): Promise<RetentionSlice> {
  return deleteExpiredRows(db, data, {
    from: from ?? (await findRetentionPosition(db, data)),
    before: new Date(nowMs - retentionDays[data] * DAY_MS),
    durationMs: SLICE_MS,
  });
}
deleteExpired.checked = unchecked(deleteExpired);

/** Records a run: the gauge of its age and the next run read it. */
export function recordRetention({ db }: ActivityDependencies, run: RetentionRun): Promise<void> {
  return recordRetentionRun(db, run);
}
recordRetention.checked = unchecked(recordRetention);
