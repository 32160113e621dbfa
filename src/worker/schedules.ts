import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client, type ScheduleSpec } from '@temporalio/client';
import type * as workflows from '../../workflows/index';
import { PAYMENTS_TASK_QUEUE, PAYOUTS_TASK_QUEUE } from '../../workflows/messages';
import type { Logger } from '../observability/logger';
import { isUnsupported } from '../temporal/grpc-errors';

interface Schedule {
  /** The id of the schedule, and of the workflow that it starts. */
  readonly id: string;
  readonly spec: ScheduleSpec;
  readonly workflowType: keyof typeof workflows;
  readonly taskQueue: string;
  /** What an operator does if the server has no schedules. */
  readonly otherwise: string;
}

const SCHEDULES: readonly Schedule[] = [
  {
    id: 'reconciliation',
    spec: { intervals: [{ every: '1 hour' }] },
    workflowType: 'reconcile',
    taskQueue: PAYMENTS_TASK_QUEUE,
    otherwise: 'reconcile every hour by other means',
  },
  {
    id: 'retention',
    spec: { intervals: [{ every: '1 day' }] },
    workflowType: 'retention',
    taskQueue: PAYMENTS_TASK_QUEUE,
    otherwise: 'start the workflow `retention` every day',
  },
  {
    id: 'close-days',
    // The server does not need the time zone: WIB has no daylight saving time, and 00:30 is 17:30 in UTC.
    spec: { calendars: [{ hour: 17, minute: 30 }] },
    workflowType: 'closeDays',
    taskQueue: PAYMENTS_TASK_QUEUE,
    otherwise: 'start the workflow `closeDays` every day at 00:30 WIB',
  },
  {
    id: 'payouts',
    // 07:00 WIB.
    spec: { calendars: [{ hour: 0, minute: 0 }] },
    workflowType: 'requestScheduledPayouts',
    taskQueue: PAYOUTS_TASK_QUEUE,
    otherwise: 'start the workflow `requestScheduledPayouts` every day at 07:00 WIB',
  },
];

/** Creates the schedules. An existing schedule stays as it is: operators may have changed it. */
export async function createSchedules(client: Client, log: Logger): Promise<void> {
  for (const schedule of SCHEDULES) await createSchedule(client, schedule, log);
}

async function createSchedule(
  { schedule }: Client,
  { id, spec, workflowType, taskQueue, otherwise }: Schedule,
  log: Logger,
): Promise<void> {
  try {
    await schedule.create({
      scheduleId: id,
      spec,
      policies: { overlap: ScheduleOverlapPolicy.SKIP },
      action: { type: 'startWorkflow', workflowType, workflowId: id, taskQueue },
    });
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    if (!isUnsupported(error)) throw error;
    log.warn(`schedules not supported; ${otherwise}`);
  }
}
