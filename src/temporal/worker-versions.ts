import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { optionalTsToDate } from '@temporalio/common/lib/time';
import type { WorkerOptions } from '@temporalio/worker';
import { UserError } from '../errors';
import type { BoundedClient } from './bounded-client';
import { hasStatus } from './grpc-errors';
import { listUnpolledSince } from './task-queue-polls';

/** The version of this worker, for Worker Versioning. */
export interface WorkerVersion {
  /** `TEMPORAL_DEPLOYMENT_NAME`: the workers of one installation. */
  readonly deploymentName: string;
  /** `TEMPORAL_WORKER_BUILD_ID`: what runs in them, such as a tag of the image. */
  readonly buildId: string;
}

/** By `temporal.api.enums.v1.WorkerDeploymentVersionStatus`. */
const STATUSES = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained', 'created'] as const;

/** A version of which workers have polled. */
export interface ListedVersion {
  readonly buildId: string;
  /** `current` starts new workflows. `draining` still has open ones; `drained` has none, so its workers can end. */
  readonly status: (typeof STATUSES)[number];
  readonly createdAt: Date | undefined;
  /** Undefined unless it is draining. */
  readonly drainingSince: Date | undefined;
}

/** Without a version a worker takes every workflow task, as before. */
export function versioningOptions(version: WorkerVersion | undefined): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!version) return {};
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

/** The newest version first; none if no versioned worker of the deployment has polled. */
export async function listWorkerVersions(client: BoundedClient, deploymentName: string): Promise<ListedVersion[]> {
  try {
    const { workerDeploymentInfo } = await client.call(({ workflowService, options: { namespace } }) =>
      workflowService.describeWorkerDeployment({ namespace, deploymentName }),
    );
    const versions = (workerDeploymentInfo?.versionSummaries ?? []).map((summary) => {
      const status = STATUSES[summary.status ?? 0];
      return {
        buildId: summary.deploymentVersion?.buildId ?? '',
        status,
        createdAt: optionalTsToDate(summary.createTime),
        drainingSince: status === 'draining' ? optionalTsToDate(summary.drainageInfo?.lastChangedTime) : undefined,
      };
    });
    return versions.toSorted((one, other) => Number(other.createdAt ?? 0) - Number(one.createdAt ?? 0));
  } catch (error) {
    if (hasStatus(error, [status.NOT_FOUND])) return [];
    throw error;
  }
}

/** A version that is drained has no workflow, and one that is inactive or created has not begun. */
const RUNNING: ReadonlySet<ListedVersion['status']> = new Set(['current', 'ramping', 'draining']);

/** The build ids whose workers may still execute steps, without the newest. @param versions the newest first */
export function olderRunningVersions([, ...older]: readonly ListedVersion[]): string[] {
  return older.filter(({ status: state }) => RUNNING.has(state)).map(({ buildId }) => buildId);
}

/** A worker without tasks polls again after a minute, so the wait is longer. */
const POLL_LIMITS = { withinMs: 30_000, waitMs: 70_000 };
const POLL_CHECK_INTERVAL_MS = 1_000;

interface PollLimits {
  /** How old the last poll of a running worker may be. */
  readonly withinMs: number;
  readonly waitMs: number;
}

/**
 * New workflows start on this version from now on, and workflows that are not pinned continue on it. Temporal itself
 * accepts a version whose workers have ended.
 * @param hasPayouts else no worker needs the role `payouts`
 * @throws UserError if the workers of the version do not poll every task queue
 */
export async function setCurrentVersion(
  client: BoundedClient,
  version: WorkerVersion,
  hasPayouts: boolean,
  limits: PollLimits = POLL_LIMITS,
): Promise<void> {
  const { deploymentName, buildId } = version;
  const notPolling = new UserError(
    `The version ${buildId} cannot become the current one: start its workers in all roles, until they poll.`,
  );
  const known = await listWorkerVersions(client, deploymentName);
  if (!known.some((each) => each.buildId === buildId)) throw notPolling;
  if (!(await isPolledBy(client, version, hasPayouts, limits))) throw notPolling;
  try {
    await client.call(({ workflowService, options: { namespace } }) =>
      workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId }),
    );
  } catch (error) {
    throw hasStatus(error, [status.NOT_FOUND, status.FAILED_PRECONDITION]) ? notPolling : error;
  }
}

async function isPolledBy(
  client: BoundedClient,
  version: WorkerVersion,
  hasPayouts: boolean,
  { withinMs, waitMs }: PollLimits,
): Promise<boolean> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const since = new Date(Date.now() - withinMs);
    const unpolled = await listUnpolledSince(client, { hasPayouts, since, version });
    if (unpolled.length === 0 || Date.now() > deadline) return unpolled.length === 0;
    await sleep(POLL_CHECK_INTERVAL_MS);
  }
}
