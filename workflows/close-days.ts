import { workflowInfo } from '@temporalio/workflow';
import { dayInWib } from '../src/domain/wib';
import { dailyRun } from './daily-run';
import { regularActivities } from './regular-activities';
import { DAY_MS, MINUTE_MS, SECOND_MS } from './retry-policies';

/**
 * An end of a day that waits for a settlement fails after two seconds, and is repeated. The next night closes both. The
 * invoices of a month may take minutes; what is counted of them is kept.
 */
const activities = regularActivities({
  startToCloseTimeout: 10 * MINUTE_MS,
  scheduleToCloseTimeout: DAY_MS,
  retry: { initialInterval: 5 * SECOND_MS, maximumInterval: 5 * MINUTE_MS },
  summary: 'close the days that are over',
});

/**
 * Started by a schedule at 00:30 WIB. Afterwards nothing is booked on the day before. The clock of PostgreSQL may be
 * ahead: so no day is closed that had not ended when this started.
 */
export async function closeDays(): Promise<string> {
  const { startTime } = workflowInfo();
  return dailyRun({ kind: 'closing', startedAtMs: startTime.getTime() }, async () => {
    const done = await activities.closeDays(dayInWib(startTime));
    return { isComplete: true, done, failed: [], isFailed: false, summary: `${done} days closed` };
  });
}
