import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { DAY_MS, MINUTE_MS, SECOND_MS } from './retry-policies';

/** A close that waits for a settlement ends after two seconds, and is repeated. The next day closes both days. */
const activities = proxyActivities<Activities>({
  startToCloseTimeout: MINUTE_MS,
  scheduleToCloseTimeout: DAY_MS,
  retry: { initialInterval: 5 * SECOND_MS, maximumInterval: 5 * MINUTE_MS },
  summary: 'close the days that are over',
});

/** Started by a schedule at 00:30 WIB. Afterwards nothing is booked on the day before. */
export async function closeDays(): Promise<string> {
  const closed = await activities.closeDays();
  return `${closed} days closed`;
}
