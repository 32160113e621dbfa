import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client, type ScheduleSpec } from '@temporalio/client';
import type { RunKind } from '../domain/daily-runs';
import type { Logger } from '../observability/logger';
import { isUnsupported } from '../temporal/grpc-errors';
import { SCHEDULED_RUNS } from '../temporal/scheduled-runs';

interface Schedule {
  readonly kind: RunKind;
  readonly spec: ScheduleSpec;
  /** What an operator does if the server has no schedules. */
  readonly otherwise: string;
}

const SCHEDULES: readonly Schedule[] = [
  {
    kind: 'reconciliation',
    spec: { intervals: [{ every: '1 hour' }] },
    otherwise: 'reconcile every hour by other means',
  },
  {
    kind: 'retention',
    spec: { intervals: [{ every: '1 day' }] },
    otherwise: 'start the workflow `retention` every day',
  },
  {
    kind: 'closing',
    // The server does not need the time zone: WIB has no daylight saving time, and 00:30 is 17:30 in UTC.
    spec: { calendars: [{ hour: 17, minute: 30 }] },
    otherwise: 'start the workflow `closeDays` every day at 00:30 WIB',
  },
  {
    kind: 'payouts',
    // 07:00 WIB.
    spec: { calendars: [{ hour: 0, minute: 0 }] },
    otherwise: 'start the workflow `requestScheduledPayouts` every day at 07:00 WIB',
  },
];

/** Creates the schedules. An existing schedule stays as it is: operators may have changed it. */
export async function createSchedules(client: Client, log: Logger): Promise<void> {
  for (const schedule of SCHEDULES) await createSchedule(client, schedule, log);
}

async function createSchedule({ schedule }: Client, { kind, spec, otherwise }: Schedule, log: Logger): Promise<void> {
  const { id, workflowType, taskQueue } = SCHEDULED_RUNS[kind];
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
