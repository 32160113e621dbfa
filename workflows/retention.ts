import { isCancellation, patched, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { EXPIRING_DATA, type ExpiringData, type RetentionPosition, type RetentionSlice } from '../src/domain/retention';
import { dailyRun, type RunEnd } from './daily-run';
import { regularActivities } from './regular-activities';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './retry-policies';
import { PATCHES } from './versions';

const OF_SIGN_INS: ReadonlySet<ExpiringData> = new Set(['sessions', 'sign_in_links']);

/** About half an hour for each kind of data. The next run continues. */
const MAX_SLICES = 100;

/** A statement that fails is repeated for an hour. Then the next kind of data follows. */
const DELETION = {
  startToCloseTimeout: 2 * MINUTE_MS,
  scheduleToCloseTimeout: HOUR_MS,
  retry: { initialInterval: SECOND_MS, maximumInterval: MINUTE_MS },
} as const;

const { recordRetention } = regularActivities({
  startToCloseTimeout: MINUTE_MS,
  retry: { initialInterval: SECOND_MS, maximumInterval: MINUTE_MS },
  summary: 'record the run',
});

interface Deletion {
  readonly data: ExpiringData;
  readonly deleted: number;
  readonly isComplete: boolean;
  /** Where the next run begins. */
  readonly position?: RetentionPosition | null;
  /** Why it failed after all attempts. */
  readonly failure?: string;
}

/**
 * Started daily by a schedule. Deletes what is older than its retention. A kind of data that fails does not stop the
 * others; the run then fails at its end.
 */
export async function retention(): Promise<string> {
  const startedAtMs = workflowInfo().startTime.getTime();
  return dailyRun({ kind: 'retention', startedAtMs }, () => deleteEachKind(startedAtMs));
}

async function deleteEachKind(startedAtMs: number): Promise<RunEnd> {
  const isRecorded = patched(PATCHES.retentionRecordsItsRun);
  const deletesSignIns = patched(PATCHES.retentionDeletesSignIns);
  const deletions: Deletion[] = [];
  for (const data of EXPIRING_DATA) {
    if (data === 'unused_payment_details' && !isRecorded) continue;
    if (OF_SIGN_INS.has(data) && !deletesSignIns) continue;
    deletions.push(await deleteAll(data, startedAtMs));
    setCurrentDetails(deletions.map(describe).join('\n\n'));
  }
  if (isRecorded) {
    await recordRetention({
      startedAtMs,
      isComplete: deletions.every(({ isComplete }) => isComplete),
      deleted: Object.fromEntries(deletions.map(({ data, deleted }) => [data, deleted])),
      positions: Object.fromEntries(deletions.flatMap(({ data, position }) => (position ? [[data, position]] : []))),
    });
  }
  const failed = deletions.flatMap(({ data, failure }) => (failure === undefined ? [] : [data]));
  return {
    isComplete: deletions.every(({ isComplete }) => isComplete),
    done: deletions.reduce((sum, { deleted }) => sum + deleted, 0),
    failed,
    isFailed: failed.length > 0,
    summary: deletions.map(describe).join(', '),
  };
}

async function deleteAll(data: ExpiringData, nowMs: number): Promise<Deletion> {
  const { deleteExpired } = regularActivities({ ...DELETION, summary: `delete old ${data}` });
  let deleted = 0;
  let reached: RetentionPosition | null = null;
  let firstKept: RetentionPosition | null = null;
  try {
    for (let slice = 1; slice <= MAX_SLICES; slice += 1) {
      const result: RetentionSlice = await deleteExpired({ data, nowMs, ...(reached && { from: reached }) });
      deleted += result.deleted;
      reached = result.reached;
      firstKept ??= result.firstKept;
      if (result.isDone) return { data, deleted, isComplete: true, position: firstKept ?? reached };
    }
    return { data, deleted, isComplete: false, position: firstKept ?? reached };
  } catch (error) {
    if (isCancellation(error)) throw error;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { data, deleted, isComplete: false, failure: cause instanceof Error ? cause.message : String(cause) };
  }
}

function describe({ data, deleted, isComplete, failure }: Deletion): string {
  const remainder = isComplete ? '' : ', and more is left';
  return `${data}: ${deleted} deleted${failure === undefined ? remainder : `, then failed: ${failure}`}`;
}
