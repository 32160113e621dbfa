import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import { PAYMENTS_TASK_QUEUE, PAYOUTS_TASK_QUEUE, VERIFIER_TASK_QUEUE } from '../../workflows/ids';
import type * as workflows from '../../workflows/index';
import type { RunKind } from '../domain/daily-runs';
import type { BoundedClient } from './bounded-client';

export interface ScheduledRun {
  /** The id of the schedule, and the beginning of the ids of its workflows. */
  readonly id: string;
  readonly workflowType: keyof typeof workflows;
  readonly taskQueue: string;
}

export const SCHEDULED_RUNS = {
  reconciliation: { id: 'reconciliation', workflowType: 'reconcile', taskQueue: PAYMENTS_TASK_QUEUE },
  retention: { id: 'retention', workflowType: 'retention', taskQueue: PAYMENTS_TASK_QUEUE },
  closing: { id: 'close-days', workflowType: 'closeDays', taskQueue: PAYMENTS_TASK_QUEUE },
  payouts: { id: 'payouts', workflowType: 'requestScheduledPayouts', taskQueue: PAYOUTS_TASK_QUEUE },
  ledger_verification: { id: 'ledger-verification', workflowType: 'verifyLedger', taskQueue: VERIFIER_TASK_QUEUE },
  audit_verification: { id: 'audit-verification', workflowType: 'verifyAudit', taskQueue: VERIFIER_TASK_QUEUE },
} as const satisfies Readonly<Record<RunKind, ScheduledRun>>;

/** What a schedule starts that is no run of `daily_runs`. */
export const NEW_AUDIT_ENTRIES: ScheduledRun = {
  id: 'new-audit-entries',
  workflowType: 'verifyNewAuditEntries',
  taskQueue: VERIFIER_TASK_QUEUE,
};

/** Starts runs beside their schedules. */
export class RunClient {
  constructor(private readonly client: BoundedClient) {}

  /**
   * Starts a run now, also if its schedule is paused or missing. While one that was started so is in progress, no other
   * one begins. @returns the id of its workflow
   */
  async repeat(kind: RunKind): Promise<string> {
    const { id, workflowType, taskQueue } = SCHEDULED_RUNS[kind];
    const workflowId = `${id}-repeated`;
    await this.client.call(({ workflow }) =>
      workflow.start(workflowType, {
        workflowId,
        taskQueue,
        args: [],
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      }),
    );
    return workflowId;
  }
}
