import { deleteExpiredRows } from '../src/db/records/expired-rows';
import type { ExpiringData, ExpirySlice } from '../src/domain/retention';
import type { ActivityDependencies } from './dependencies';

const DAY_MS = 86_400_000;
const SLICE_MS = 20_000;

/** Deletes what is older than its retention, for a limited time. */
export function deleteExpired(
  { db, retentionDays }: ActivityDependencies,
  { data, nowMs }: { readonly data: ExpiringData; readonly nowMs: number },
): Promise<ExpirySlice> {
  return deleteExpiredRows(db, data, new Date(nowMs - retentionDays[data] * DAY_MS), SLICE_MS);
}
