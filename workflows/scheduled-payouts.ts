import { setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { ScheduledPayouts, ScheduledPayoutsPart } from '../src/domain/payout-schedule';
import { dayInWib } from '../src/domain/wib';
import { authentic } from './authentic';
import { dailyRun, type RunEnd } from './daily-run';
import { regularActivities } from './regular-activities';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './retry-policies';

/** A page takes half a minute. If its worker stops, another one repeats the page. */
const { requestScheduledPayouts: requestPart } = regularActivities({
  startToCloseTimeout: 15 * MINUTE_MS,
  scheduleToCloseTimeout: 6 * HOUR_MS,
  heartbeatTimeout: MINUTE_MS,
  retry: { initialInterval: SECOND_MS, maximumInterval: MINUTE_MS },
  summary: 'request the payouts that are due',
});

/** How often the merchants that failed are tried again. */
const MAX_REPETITIONS = 3;

/**
 * Started by a schedule at 07:00 WIB. Requests a payout for each merchant who is due. A merchant who fails does not
 * stop the others; if one fails each time, the run fails at its end. The next day pays.
 */
export async function requestScheduledPayouts(): Promise<string> {
  const { startTime } = workflowInfo();
  const run = { day: dayInWib(startTime), startedAtMs: startTime.getTime() };
  return dailyRun({ kind: 'payouts', startedAtMs: run.startedAtMs }, () => requestDue(run));
}

async function requestDue(run: Pick<ScheduledPayoutsPart, 'day' | 'startedAtMs'>): Promise<RunEnd> {
  let [requested, failed]: [number, readonly string[]] = [0, []];
  const advance = async (part: Pick<ScheduledPayoutsPart, 'after' | 'merchantIds'>): Promise<ScheduledPayouts> => {
    const result = authentic(await requestPart({ ...run, ...part }));
    requested += result.requested;
    failed = [...failed, ...result.failed];
    setCurrentDetails(describe(requested, failed));
    return result;
  };
  const requestAll = async (merchantIds: readonly string[] | null): Promise<void> => {
    for (let after: string | null = null, isDone = false; !isDone; isDone = after === null) {
      after = (await advance({ after, merchantIds })).next;
    }
  };
  await requestAll(null);
  for (let repetition = 1; repetition <= MAX_REPETITIONS && failed.length > 0; repetition += 1) {
    await sleep(MINUTE_MS, { summary: 'try those that failed again' });
    const merchantIds = failed;
    failed = [];
    await requestAll(merchantIds);
  }
  const isFailed = failed.length > 0;
  return { isComplete: !isFailed, done: requested, failed, isFailed, summary: describe(requested, failed) };
}

function describe(requested: number, failed: readonly string[]): string {
  const failures = failed.length === 0 ? '' : `, ${failed.length} merchants failed: ${failed.slice(0, 20).join(', ')}`;
  return `${requested} payouts requested${failures}`;
}
