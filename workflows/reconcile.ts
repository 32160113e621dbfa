import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './retries';

/** How far back payments that are over are compared again. */
const LOOK_BACK_MS = 2 * DAY_MS;

/** Started by a schedule: compares provider, PostgreSQL and workflow of every open payment, and of those of the last days. */
export async function reconcile(): Promise<string> {
  const { reconcilePayments } = proxyActivities<Activities>({
    startToCloseTimeout: 2 * HOUR_MS,
    heartbeatTimeout: 2 * MINUTE_MS,
    retry: { maximumAttempts: 3 },
    summary: 'compare provider, PostgreSQL and workflows',
  });
  const summary = await reconcilePayments({ changedSinceMs: Date.now() - LOOK_BACK_MS });
  setCurrentDetails(summary);
  return summary;
}
