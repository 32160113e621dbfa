import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client, type ScheduleSpec } from '@temporalio/client';
import type { Logger } from '../observability/logger';
import { isUnsupported } from '../temporal/grpc-errors';
import { NEW_AUDIT_ENTRIES, SCHEDULED_RUNS, type ScheduledRun } from '../temporal/scheduled-runs';

interface Schedule {
  readonly run: ScheduledRun;
  readonly spec: ScheduleSpec;
  /** What an operator does if the server has no schedules. */
  readonly otherwise: string;
}

const SCHEDULES: readonly Schedule[] = [
  {
    run: SCHEDULED_RUNS.reconciliation,
    spec: { intervals: [{ every: '1 hour' }] },
    otherwise: 'reconcile every hour by other means',
  },
  {
    run: SCHEDULED_RUNS.retention,
    spec: { intervals: [{ every: '1 day' }] },
    otherwise: 'start the workflow `retention` every day',
  },
  {
    run: SCHEDULED_RUNS.closing,
    // The server does not need the time zone: WIB has no daylight saving time, and 00:30 is 17:30 in UTC.
    spec: { calendars: [{ hour: 17, minute: 30 }] },
    otherwise: 'start the workflow `closeDays` every day at 00:30 WIB',
  },
  {
    run: SCHEDULED_RUNS.payouts,
    // 07:00 WIB.
    spec: { calendars: [{ hour: 0, minute: 0 }] },
    otherwise: 'start the workflow `requestScheduledPayouts` every day at 07:00 WIB',
  },
  {
    run: SCHEDULED_RUNS.ledger_verification,
    // 01:00 WIB.
    spec: { calendars: [{ hour: 18, minute: 0 }] },
    otherwise: 'start the workflow `verifyLedger` every day',
  },
  {
    run: SCHEDULED_RUNS.audit_verification,
    // 01:30 WIB.
    spec: { calendars: [{ hour: 18, minute: 30 }] },
    otherwise: 'start the workflow `verifyAudit` every day',
  },
  {
    run: NEW_AUDIT_ENTRIES,
    spec: { intervals: [{ every: '5 minutes' }] },
    otherwise: 'start the workflow `verifyNewAuditEntries` every five minutes',
  },
];

/** Creates the schedules. An existing schedule stays as it is: operators may have changed it. */
export async function createSchedules(client: Client, log: Logger): Promise<void> {
  for (const schedule of SCHEDULES) await createSchedule(client, schedule, log);
}

async function createSchedule({ schedule }: Client, { run, spec, otherwise }: Schedule, log: Logger): Promise<void> {
  const { id, workflowType, taskQueue } = run;
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
