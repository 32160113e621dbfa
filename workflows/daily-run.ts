import { ActivityFailure, ApplicationFailure, ContinueAsNew, isCancellation, patched } from '@temporalio/workflow';
import type { RunResult, StartedRun } from '../src/domain/daily-runs';
import { regularActivities } from './regular-activities';
import { MINUTE_MS, SECOND_MS } from './retry-policies';
import { PATCHES } from './versions';

/** Retried without limit: the row is what an operator sees of a run. */
const { beginDailyRun, finishDailyRun } = regularActivities({
  startToCloseTimeout: MINUTE_MS,
  retry: { initialInterval: SECOND_MS, maximumInterval: MINUTE_MS },
  summary: 'record the run',
});

/** What the work of a run ends with. */
export interface RunEnd extends RunResult {
  /** The result of the workflow, or the message of its failure. */
  readonly summary: string;
  readonly isFailed: boolean;
}

const NOTHING_DONE: RunResult = { isComplete: false, done: 0, failed: [] };

/**
 * Does the work of a scheduled workflow, and records it as a run, also if it fails. A run that is cancelled or
 * terminated stays without an end.
 * @throws ApplicationFailure with the summary if the run failed
 */
export async function dailyRun(run: StartedRun, work: () => Promise<RunEnd>): Promise<string> {
  const isRecorded = patched(PATCHES.runsAreRecorded);
  const finish = async (result: RunResult, failure: string | null): Promise<void> => {
    const { isComplete, done, failed } = result;
    if (isRecorded) await finishDailyRun({ ...run, isComplete, done, failed, finishedAtMs: Date.now(), failure });
  };
  if (isRecorded) await beginDailyRun(run);
  const end = await work().catch(async (error: unknown) => {
    if (!isCancellation(error) && !(error instanceof ContinueAsNew)) await finish(NOTHING_DONE, messageOf(error));
    throw error;
  });
  await finish(end, null);
  if (end.isFailed) throw ApplicationFailure.nonRetryable(end.summary);
  return end.summary;
}

function messageOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
