import { optionalTsToDate } from '@temporalio/common/lib/time';
import { PAYMENTS_TASK_QUEUE, PAYOUTS_TASK_QUEUE, VERIFIER_TASK_QUEUE, WEBHOOKS_TASK_QUEUE } from '../../workflows/ids';
import type { BoundedClient } from './bounded-client';
import { MissingWorkerError, NoWorkerResponse } from './missing-worker';

/** A worker polls again within a minute, also while there is no task. */
const POLL_GRACE_MS = 70_000;

/** The caller has waited for the call already. */
const EXPLANATION_MS = 4_000;

/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW_TASKS = 1;

/** A task queue that no worker polls. */
export interface UnpolledTaskQueue {
  readonly taskQueue: string;
  /** Null if Temporal, which forgets a worker after minutes, has none. */
  readonly lastPolledAt: Date | null;
}

/**
 * The task queues of which Temporal has seen no poll for 70 s.
 * @param hasPayouts else no worker needs the role `payouts`
 */
export async function listUnpolledTaskQueues(client: BoundedClient, hasPayouts: boolean): Promise<UnpolledTaskQueue[]> {
  return listUnpolledSince(client, { hasPayouts, since: graceBegin() });
}

/** The error of a call that got no response, or that no worker polls its task queue, if that is the truth. */
export async function explainNoResponse(client: BoundedClient, error: unknown): Promise<unknown> {
  if (!(error instanceof NoWorkerResponse)) return error;
  const bounded = client.withDeadline(Date.now() + EXPLANATION_MS);
  const poll = await findLastPoll(bounded, error.taskQueue).catch(() => null);
  return poll !== null && isUnpolled(poll, graceBegin()) ? new MissingWorkerError(error.taskQueue, error) : error;
}

const graceBegin = () => new Date(Date.now() - POLL_GRACE_MS);

function isUnpolled({ lastPolledAt }: UnpolledTaskQueue, since: Date): boolean {
  return lastPolledAt === null || lastPolledAt < since;
}

interface Version {
  readonly deploymentName: string;
  readonly buildId: string;
}

interface PollQuestion {
  readonly hasPayouts: boolean;
  readonly since: Date;
  /** Default: workers of any version, and those without one. */
  readonly version?: Version;
}

/** The task queues that no worker has polled since then. */
export async function listUnpolledSince(
  client: BoundedClient,
  { hasPayouts, since, version }: PollQuestion,
): Promise<UnpolledTaskQueue[]> {
  const payouts = hasPayouts ? [PAYOUTS_TASK_QUEUE] : [];
  const taskQueues = [PAYMENTS_TASK_QUEUE, WEBHOOKS_TASK_QUEUE, VERIFIER_TASK_QUEUE, ...payouts];
  const polls = await Promise.all(taskQueues.map((taskQueue) => findLastPoll(client, taskQueue, version)));
  return polls.filter((poll) => isUnpolled(poll, since));
}

async function findLastPoll(client: BoundedClient, taskQueue: string, version?: Version): Promise<UnpolledTaskQueue> {
  const { pollers } = await client.call(({ workflowService, options: { namespace } }) =>
    workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue }, taskQueueType: WORKFLOW_TASKS }),
  );
  const counted = pollers.filter(({ deploymentOptions: own }) => {
    return version === undefined || (own?.deploymentName === version.deploymentName && own.buildId === version.buildId);
  });
  const polledAtMs = counted.map(({ lastAccessTime }) => optionalTsToDate(lastAccessTime)?.getTime() ?? 0);
  return { taskQueue, lastPolledAt: polledAtMs.length === 0 ? null : new Date(Math.max(...polledAtMs)) };
}
