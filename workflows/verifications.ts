import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { RunKind } from '../src/domain/daily-runs';
import type { VerificationResult } from '../src/domain/verification';
import { isSundayInWib } from '../src/domain/wib';
import { authentic } from './authentic';
import { dailyRun } from './daily-run';
import { regularActivities } from './regular-activities';
import { DAY_MS, MINUTE_MS, SECOND_MS } from './retry-policies';

/** If the worker stops, another one begins the verification again. */
const activities = regularActivities({
  startToCloseTimeout: DAY_MS,
  scheduleToCloseTimeout: DAY_MS,
  heartbeatTimeout: MINUTE_MS,
  retry: { initialInterval: 5 * SECOND_MS, maximumInterval: 5 * MINUTE_MS },
  summary: 'verify',
});

/** Started by a schedule at 01:00 WIB. On Sunday it verifies every payment. */
export async function verifyLedger(): Promise<string> {
  const isFull = isSundayInWib(workflowInfo().startTime);
  return verificationRun('ledger_verification', () => activities.verifyLedger({ isFull }));
}

/** Started by a schedule at 01:30 WIB. Verifies the whole chain. */
export async function verifyAudit(): Promise<string> {
  return verificationRun('audit_verification', () => activities.verifyAudit({ isFull: true }));
}

/**
 * Started by a schedule every five minutes. Verifies the entries of the audit log since the last verification without
 * breaks. It leaves no row in `daily_runs`: there would be 288 a day.
 */
export async function verifyNewAuditEntries(): Promise<string> {
  const result = authentic(await activities.verifyAudit({ isFull: false }));
  if (result.breakCount > 0) throw ApplicationFailure.nonRetryable(describe(result));
  return describe(result);
}

/** A run that found breaks is complete: the result of the verification has them. */
function verificationRun(kind: RunKind, verify: () => Promise<VerificationResult>): Promise<string> {
  return dailyRun({ kind, startedAtMs: workflowInfo().startTime.getTime() }, async () => {
    const result = authentic(await verify());
    const isFailed = result.breakCount > 0;
    return { isComplete: true, done: result.verified, failed: [], isFailed, summary: describe(result) };
  });
}

function describe({ verified, breakCount }: VerificationResult): string {
  return `${verified} verified, ${breakCount} breaks`;
}
