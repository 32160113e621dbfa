import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import type { Logger } from '../logger';
import { PAYMENTS_TASK_QUEUE } from '../../workflows/messages';
import type * as workflows from '../../workflows/index';
import { isUnsupported } from './grpc-errors';

/** The id of the schedule, and of the workflow that it starts. */
const RECONCILIATION = 'reconciliation';

/** Schedules the reconciliation every hour. An existing schedule stays as it is: operators may have changed it. */
export async function scheduleReconciliation({ schedule }: Client, log: Logger): Promise<void> {
  try {
    await schedule.create({
      scheduleId: RECONCILIATION,
      spec: { intervals: [{ every: '1 hour' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP },
      action: {
        type: 'startWorkflow',
        workflowType: 'reconcile' satisfies keyof typeof workflows,
        workflowId: RECONCILIATION,
        taskQueue: PAYMENTS_TASK_QUEUE,
      },
    });
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    if (!isUnsupported(error)) throw error;
    log.warn('schedules not supported; run `lunas reconcile` every hour by other means');
  }
}
