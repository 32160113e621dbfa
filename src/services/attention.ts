import type { Queryable } from '../db/connection/pool';
import { listRecordedCases, type RecordedCase, type RecordedCaseKind } from '../db/operations/list-attention';
import { describeRetriedStep } from '../domain/retried-step';
import { messageOf } from '../errors';
import type { UnpolledTaskQueue } from '../temporal/task-queue-polls';
import type { ListedVersion } from '../temporal/worker-versions';
import type { WorkflowNeedingAttention } from '../temporal/workflow-records';

export type AttentionKind = RecordedCaseKind | 'workflow' | 'worker' | 'worker_version' | 'temporal';

/** What waits for an operator. */
export interface AttentionCase extends Omit<RecordedCase, 'kind'> {
  readonly kind: AttentionKind;
}

/** What PostgreSQL does not have. */
export interface TemporalAttention {
  readonly workflows: readonly WorkflowNeedingAttention[];
  readonly versions: readonly ListedVersion[];
  readonly unpolled: readonly UnpolledTaskQueue[];
}

/** Temporal's cases have no cause beside their kind. */
const NO_CAUSE = { cause: null, about: null } as const;

/** The payments of a version are settled or refunded within days: a version that drains for longer has a cause. */
const MAX_DRAIN_MS = 3 * 86_400_000;

/**
 * Everything that waits for an operator, the oldest first.
 * @param readTemporal if it fails, that is a case too
 */
export async function listAttention(
  db: Queryable,
  readTemporal: () => Promise<TemporalAttention>,
  limit: number,
): Promise<AttentionCase[]> {
  const [recorded, inTemporal] = await Promise.all([
    listRecordedCases(db, limit),
    readTemporal().then(casesOf, (error: unknown) => [temporalCase(error)]),
  ]);
  const known = new Set(recorded.map(({ subject }) => subject));
  const others = inTemporal.filter(({ subject }) => subject === null || !known.has(subject));
  return [...recorded, ...others].toSorted((one, other) => one.since.getTime() - other.since.getTime()).slice(0, limit);
}

function casesOf({ workflows, versions, unpolled }: TemporalAttention): AttentionCase[] {
  const drainedUntil = new Date(Date.now() - MAX_DRAIN_MS);
  return [
    ...workflows.map(({ workflowId, referenceId, merchantId, startedAt, retriedStep }): AttentionCase => {
      const detail = retriedStep ? describeRetriedStep(retriedStep) : `${workflowId}, started then`;
      return { kind: 'workflow', subject: referenceId, merchantId, since: startedAt, detail, ...NO_CAUSE };
    }),
    ...unpolled.map(({ taskQueue, lastPolledAt }): AttentionCase => {
      const since = lastPolledAt ?? new Date();
      const detail = `no worker polls ${taskQueue}`;
      return { kind: 'worker', subject: taskQueue, merchantId: null, since, detail, ...NO_CAUSE };
    }),
    ...versions.flatMap(({ buildId, drainingSince }): AttentionCase[] => {
      if (drainingSince === undefined || drainingSince > drainedUntil) return [];
      const detail = 'still has open workflows';
      return [
        { kind: 'worker_version', subject: buildId, merchantId: null, since: drainingSince, detail, ...NO_CAUSE },
      ];
    }),
  ];
}

function temporalCase(error: unknown): AttentionCase {
  return {
    kind: 'temporal',
    subject: null,
    merchantId: null,
    since: new Date(),
    detail: messageOf(error),
    ...NO_CAUSE,
  };
}
