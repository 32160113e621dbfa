import { z } from 'zod';
import { listProviderAccountIds } from '../../db/operations/list-for-reconciliation';
import {
  addCoverage,
  describeCoverage,
  NOTHING_COVERED,
  planReconciliation,
  totalCoverage,
  type Coverage,
  type FoundBreak,
  type PartCoverage,
  type ReconciliationBatch,
  type ReconciliationPart,
} from '../../domain/reconciliation';
import type { AuditDependencies } from '../audit/audit';
import { ofInstallation } from '../operations/of-installation';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { reconcileBatch, type ReconcileDependencies } from './compare-payments';

export interface Reconciliation extends Omit<Coverage, 'breaks'> {
  /** Only final payments that changed since then were compared. */
  readonly changedSince: Date;
  readonly breakCount: number;
  /** The first `MAX_BREAKS` breaks. */
  readonly breaks: readonly FoundBreak[];
  readonly parts: readonly PartCoverage[];
}

const MAX_BREAKS = 10_000;
/** The approximate interval of progress reports. */
const BATCH_LIMITS = { durationMs: 5_000, stopSignal: new AbortController().signal };

/** The period of `changedSince` if the operator names no other one. */
export const FULL_PERIOD_DAYS = 7;

type ReconcileNeeds = AuditDependencies & ReconcileDependencies & { readonly report: (part: PartCoverage) => void };

export const reconcileNow = new Operation({
  name: 'reconciliation.run',
  ...ofInstallation,
  input: z.object({ changedSince: z.iso.datetime() }),
  load: (_needs: ReconcileNeeds) => Promise.resolve(null),
  target: ({ input }) => input.changedSince,
  perform: async ({ needs, input }) => done(await reconcileAll(needs, new Date(input.changedSince), needs.report)),
  incomplete: incompleteReconciliation,
});

/** What a reconciliation has found or not compared; null: nothing. */
export function incompleteReconciliation({ breakCount, ...covered }: Reconciliation): string | null {
  if (breakCount + covered.indeterminate + covered.unasked === 0) return null;
  return `${describeCoverage({ ...covered, breaks: breakCount })}.`;
}

/**
 * Runs a whole reconciliation in this process, its parts concurrently.
 * @param onProgress called after each batch with the coverage of its part so far
 */
export async function reconcileAll(
  dependencies: ReconcileDependencies,
  changedSince: Date,
  onProgress: (part: PartCoverage) => void = () => undefined,
): Promise<Reconciliation> {
  const breaks: FoundBreak[] = [];
  const changedSinceMs = changedSince.getTime();
  const times = { changedSinceMs, lastStartMs: changedSinceMs, startedAtMs: Date.now() };
  const plan = planReconciliation(await listProviderAccountIds(dependencies.db), times);
  const parts = await Promise.all(
    plan.map((part) =>
      reconcilePart(dependencies, part, (found, covered) => {
        breaks.push(...found.slice(0, MAX_BREAKS - breaks.length));
        onProgress(covered);
      }),
    ),
  );
  const { breaks: breakCount, indeterminate, unasked, compared, seen } = totalCoverage(parts);
  return { changedSince, compared, seen, indeterminate, unasked, breakCount, breaks, parts };
}

async function reconcilePart(
  dependencies: ReconcileDependencies,
  part: ReconciliationPart,
  onBatch: (breaks: readonly FoundBreak[], covered: PartCoverage) => void,
): Promise<PartCoverage> {
  const { accountId } = part;
  let covered: PartCoverage = { accountId, ...NOTHING_COVERED };
  for (let position: ReconciliationBatch['next'] = part.position; position !== null;) {
    const batch = await reconcileBatch(dependencies, { ...part, position }, BATCH_LIMITS);
    covered = { accountId, ...addCoverage(covered, batch.coverage) };
    onBatch(batch.breaks, covered);
    position = batch.next;
  }
  return covered;
}
