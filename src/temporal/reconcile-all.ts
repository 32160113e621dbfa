import { listProviderAccountIds } from '../db/queries/list-for-reconciliation';
import {
  addCoverage,
  NOTHING_COVERED,
  planReconciliation,
  totalCoverage,
  type FoundBreak,
  type PartCoverage,
  type ReconciliationPart,
  type ReconciliationSlice,
} from '../domain/reconciliation';
import { reconcileSlice, type ReconcileDependencies } from './reconcile';

export interface Reconciliation {
  /** Final payments were compared if they changed since then. */
  readonly changedSince: Date;
  /** Payments that were read. */
  readonly seen: number;
  /** Of these, how many could be compared in full. */
  readonly compared: number;
  /** For how many payments, deliveries and workflows the provider or Temporal gave no determinate result: look again. */
  readonly indeterminate: number;
  readonly breakCount: number;
  /** The first `MAX_BREAKS` of them. */
  readonly breaks: readonly FoundBreak[];
  readonly parts: readonly PartCoverage[];
}

const MAX_BREAKS = 10_000;
/** How often progress is reported, about. */
const SLICE_MS = 5_000;

/**
 * A whole run in this process, the parts concurrently.
 * @param onProgress called with the coverage so far of a part, after each of its slices
 */
export async function reconcileAll(
  dependencies: ReconcileDependencies,
  changedSince: Date,
  onProgress: (part: PartCoverage) => void = () => undefined,
): Promise<Reconciliation> {
  const breaks: FoundBreak[] = [];
  const plan = planReconciliation(await listProviderAccountIds(dependencies.db), changedSince.getTime());
  const parts = await Promise.all(
    plan.map((part) =>
      reconcilePart(dependencies, part, (found, covered) => {
        breaks.push(...found.slice(0, MAX_BREAKS - breaks.length));
        onProgress(covered);
      }),
    ),
  );
  const { breaks: breakCount, indeterminate, compared, seen } = totalCoverage(parts);
  return { changedSince, compared, seen, indeterminate, breakCount, breaks, parts };
}

async function reconcilePart(
  dependencies: ReconcileDependencies,
  part: ReconciliationPart,
  onSlice: (breaks: readonly FoundBreak[], covered: PartCoverage) => void,
): Promise<PartCoverage> {
  const { accountId } = part;
  let covered: PartCoverage = { accountId, ...NOTHING_COVERED };
  for (let position: ReconciliationSlice['next'] = part.position; position !== null;) {
    const slice = await reconcileSlice(dependencies, { ...part, position }, SLICE_MS);
    covered = { accountId, ...addCoverage(covered, slice.coverage) };
    onSlice(slice.breaks, covered);
    position = slice.next;
  }
  return covered;
}
