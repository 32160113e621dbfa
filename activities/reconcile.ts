import { listProviderAccountIds } from '../src/db/operations/list-for-reconciliation';
import { openException } from '../src/db/operations/open-exception';
import { failedRunReference } from '../src/db/operations/reconciliation-findings';
import { findLastReconciliationStart, recordReconciliationRun } from '../src/db/operations/reconciliation-runs';
import {
  planReconciliation as planParts,
  type Coverage,
  type ReconciliationBatch,
  type ReconciliationPart,
} from '../src/domain/reconciliation';
import type { ActivityDependencies } from './dependencies';
import { unchecked } from './verify-terms';

/** A run compares payments that became final in this period, at most. */
const LOOK_BACK_MS = 2 * 86_400_000;
/**
 * How far a run goes back before the start of the last one: `updated_at` is as old as the outage that delayed a step.
 */
const OVERLAP_MS = 3 * 3_600_000;

export async function planReconciliation(
  { db }: ActivityDependencies,
  { startedAtMs }: { readonly startedAtMs: number },
): Promise<ReconciliationPart[]> {
  const earliestMs = startedAtMs - LOOK_BACK_MS;
  const lastStartMs = Math.max((await findLastReconciliationStart(db))?.getTime() ?? 0, earliestMs);
  const changedSinceMs = Math.max(lastStartMs - OVERLAP_MS, earliestMs);
  return planParts(await listProviderAccountIds(db), { changedSinceMs, lastStartMs, startedAtMs });
}
planReconciliation.checked = unchecked(planReconciliation);

/** Continues a part of a run. The breaks are handled already, so the history has only their number. */
export async function reconcilePayments(
  { reconcileBatch }: ActivityDependencies,
  part: ReconciliationPart,
): Promise<Omit<ReconciliationBatch, 'breaks'>> {
  const { next, coverage } = await reconcileBatch(part);
  return { next, coverage };
}
reconcilePayments.checked = unchecked(reconcilePayments);

export interface FinishedRun {
  readonly startedAtMs: number;
  readonly isFailed: boolean;
  readonly parts: readonly { readonly part: ReconciliationPart; readonly coverage: Coverage }[];
}

export async function recordReconciliation(
  { db }: ActivityDependencies,
  { startedAtMs, isFailed, parts }: FinishedRun,
): Promise<void> {
  const changedSinceMs = parts[0]?.part.changedSinceMs ?? startedAtMs;
  await recordReconciliationRun(db, {
    startedAt: new Date(startedAtMs),
    changedSince: new Date(changedSinceMs),
    isComplete: !isFailed && parts.every(({ coverage }) => coverage.unasked === 0),
    parts: parts.map(({ part, coverage }) => ({ accountId: part.accountId, ...coverage })),
  });
}
recordReconciliation.checked = unchecked(recordReconciliation);

export interface FailedPart {
  readonly accountId: string | null;
  readonly reason: string;
}

/** A part of a run failed after all attempts: opens an exception, since the rest of the part is not compared. */
export async function reportFailedReconciliation(
  { db }: ActivityDependencies,
  { accountId, reason }: FailedPart,
): Promise<void> {
  await openException(db, {
    kind: 'reconciliation',
    cause: 'failed_run',
    referenceId: failedRunReference(accountId),
    providerAccountId: accountId,
    detail: `A reconciliation run failed, so that not everything was compared: ${reason}`,
  });
}
reportFailedReconciliation.checked = unchecked(reportFailedReconciliation);
