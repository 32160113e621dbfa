import { optionalTsToDate } from '@temporalio/common/lib/time';
import { PAYMENTS_TASK_QUEUE, PAYOUTS_TASK_QUEUE, WEBHOOKS_TASK_QUEUE } from '../../workflows/messages';
import type { BoundedClient } from './bounded-client';

/** A worker polls again within a minute, also while there is no task. */
const POLL_GRACE_MS = 2 * 60_000;

/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW_TASKS = 1;

/** A task queue that no worker polls. */
export interface UnpolledTaskQueue {
  readonly taskQueue: string;
  /** Null if Temporal, which forgets a worker after minutes, has none. */
  readonly lastPolledAt: Date | null;
}

/**
 * The task queues of which Temporal has seen no poll for two minutes.
 * @param hasPayouts else no worker needs the role `payouts`
 */
export async function listUnpolledTaskQueues(client: BoundedClient, hasPayouts: boolean): Promise<UnpolledTaskQueue[]> {
  return listUnpolledSince(client, { hasPayouts, since: new Date(Date.now() - POLL_GRACE_MS) });
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
  const taskQueues = [PAYMENTS_TASK_QUEUE, WEBHOOKS_TASK_QUEUE, ...(hasPayouts ? [PAYOUTS_TASK_QUEUE] : [])];
  const polls = await Promise.all(taskQueues.map((taskQueue) => findLastPoll(client, taskQueue, version)));
  return polls.filter(({ lastPolledAt }) => lastPolledAt === null || lastPolledAt < since);
}

async function findLastPoll(
  client: BoundedClient,
  taskQueue: string,
  version: Version | undefined,
): Promise<UnpolledTaskQueue> {
  const { pollers } = await client.call(({ workflowService, options: { namespace } }) =>
    workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue }, taskQueueType: WORKFLOW_TASKS }),
  );
  const counted = pollers.filter(({ deploymentOptions: own }) => {
    return version === undefined || (own?.deploymentName === version.deploymentName && own.buildId === version.buildId);
  });
  const polledAtMs = counted.map(({ lastAccessTime }) => optionalTsToDate(lastAccessTime)?.getTime() ?? 0);
  return { taskQueue, lastPolledAt: polledAtMs.length === 0 ? null : new Date(Math.max(...polledAtMs)) };
}
