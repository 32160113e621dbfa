import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { EXPIRING_DATA, type ExpiringData } from '../src/domain/retention';
import { MINUTE_MS, SECOND_MS } from './retry-policies';

/** About half an hour for each kind of data. The next run continues. */
const MAX_SLICES = 100;

const DELETION = {
  startToCloseTimeout: 2 * MINUTE_MS,
  retry: { initialInterval: SECOND_MS, maximumInterval: MINUTE_MS },
} as const;

/** Started daily by a schedule. Deletes what is older than its retention. */
export async function retention(): Promise<string> {
  const nowMs = workflowInfo().startTime.getTime();
  const deleted: string[] = [];
  for (const data of EXPIRING_DATA) {
    deleted.push(`${data}: ${await deleteAll(data, nowMs)} deleted`);
    setCurrentDetails(deleted.join('\n\n'));
  }
  return deleted.join(', ');
}

async function deleteAll(data: ExpiringData, nowMs: number): Promise<number> {
  const { deleteExpired } = proxyActivities<Activities>({ ...DELETION, summary: `delete old ${data}` });
  let total = 0;
  for (let slice = 1; slice <= MAX_SLICES; slice += 1) {
    const { deleted, isDone } = await deleteExpired({ data, nowMs });
    total += deleted;
    if (isDone) break;
  }
  return total;
}
