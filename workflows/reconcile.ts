import { ActivityFailure, continueAsNew, isCancellation, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import {
  addCoverage,
  describeCoverage,
  NOTHING_COVERED,
  totalCoverage,
  type Coverage,
  type ReconciliationBatch,
  type ReconciliationPart,
} from '../src/domain/reconciliation';
import { authentic } from './authentic';
import { dailyRun, type RunEnd } from './daily-run';
import { regularActivities } from './regular-activities';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './retry-policies';

/** A part of a run, and the position that it has reached. */
interface PartProgress {
  readonly part: ReconciliationPart;
  /** Null if the part is complete, or has failed. */
  readonly next: ReconciliationBatch['next'];
  readonly coverage: Coverage;
  /** Why it failed after all attempts. */
  readonly failure?: string;
}

export interface ReconciliationProgress {
  readonly startedAtMs: number;
  readonly parts: readonly PartProgress[];
}

/**
 * Started by a schedule. Compares provider, PostgreSQL and workflow of each open payment, and of those that became
 * final since the last complete run (activity `planReconciliation`). The positions of the run are in its history, so
 * that another worker continues from there if one stops.
 */
export async function reconcile(progress?: ReconciliationProgress): Promise<string> {
  const reached = progress && authentic(progress);
  const startedAtMs = reached?.startedAtMs ?? workflowInfo().startTime.getTime();
  return dailyRun({ kind: 'reconciliation', startedAtMs }, async () =>
    compareAll(reached ?? (await plan(startedAtMs))),
  );
}

async function compareAll({ startedAtMs, parts }: ReconciliationProgress): Promise<RunEnd> {
  const current = [...parts];
  const show = () => setCurrentDetails(describe({ startedAtMs, parts: current }));
  await Promise.all(
    current.map(async (_, index) => {
      for (let at = current[index]; at?.next && !workflowInfo().continueAsNewSuggested; at = current[index]) {
        current[index] = await advance(at);
        show();
      }
    }),
  );
  const reached = { startedAtMs, parts: current };
  if (current.some(({ next }) => next !== null)) await continueAsNew<typeof reconcile>(reached);
  const isFailed = current.some(({ failure }) => failure !== undefined);
  await recordReconciliation({ startedAtMs, isFailed, parts: current });
  const { compared, unasked } = totalCoverage(current.map(({ part, coverage }) => ({ ...part, ...coverage })));
  const failed = current.flatMap(({ part, failure }) => (failure === undefined ? [] : [nameOf(part)]));
  return { isComplete: !isFailed && unasked === 0, done: compared, failed, isFailed, summary: describe(reached) };
}

const COMPARISON = {
  startToCloseTimeout: 5 * MINUTE_MS,
  scheduleToCloseTimeout: 2 * HOUR_MS,
  retry: { initialInterval: SECOND_MS, maximumInterval: MINUTE_MS },
} as const;

/** Retried without limit: an exception is the only sign of a run that failed. */
const RECORD = {
  startToCloseTimeout: MINUTE_MS,
  retry: { initialInterval: SECOND_MS, maximumInterval: MINUTE_MS },
} as const;

const { planReconciliation } = regularActivities({ ...COMPARISON, summary: 'find what to compare' });
const { recordReconciliation } = regularActivities({ ...RECORD, summary: 'record the run' });
const { reportFailedReconciliation } = regularActivities({ ...RECORD, summary: 'open an exception' });

async function plan(startedAtMs: number): Promise<ReconciliationProgress> {
  try {
    const parts = authentic(await planReconciliation({ startedAtMs }));
    return {
      startedAtMs,
      parts: parts.map((part) => ({ part, next: part.position, coverage: NOTHING_COVERED })),
    };
  } catch (error) {
    await report(null, error);
    throw error;
  }
}

/** Compares one batch. If a part fails after all attempts, an exception is opened, and the other parts continue. */
async function advance({ part, next, coverage }: PartProgress): Promise<PartProgress> {
  try {
    const { reconcilePayments } = regularActivities({ ...COMPARISON, summary: `compare ${nameOf(part)}` });
    const batch = authentic(await reconcilePayments({ ...part, position: next ?? part.position }));
    return { part, next: batch.next, coverage: addCoverage(coverage, batch.coverage) };
  } catch (error) {
    const failure = await report(part.accountId, error);
    return { part, next: null, coverage, failure };
  }
}

async function report(accountId: string | null, error: unknown): Promise<string> {
  if (isCancellation(error)) throw error;
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  await reportFailedReconciliation({ accountId, reason });
  return reason;
}

function describe({ parts }: ReconciliationProgress): string {
  const [first] = parts;
  const since = first ? `, final payments since ${new Date(first.part.changedSinceMs).toISOString()}` : '';
  const total = totalCoverage(parts.map(({ part, coverage }) => ({ accountId: part.accountId, ...coverage })));
  return [`${describeCoverage(total)}${since}`, ...parts.map(describePart)].join('\n\n');
}

function describePart({ part, next, coverage, failure }: PartProgress): string {
  const state = failure === undefined ? (next ? `at its ${next.scan} part` : 'complete') : `failed: ${failure}`;
  return `${nameOf(part)}: ${describeCoverage(coverage)} (${state})`;
}

function nameOf({ accountId }: ReconciliationPart): string {
  return accountId === null ? 'late payments, deliveries and workflows' : `account ${accountId}`;
}
