import { status } from '@grpc/grpc-js';
import { optionalTsToDate } from '@temporalio/common/lib/time';
import type { WorkerOptions } from '@temporalio/worker';
import { DeclaredAction } from '../domain/declared-action';
import { UserError } from '../errors';
import type { BoundedClient } from './bounded-client';
import { hasStatus } from './grpc-errors';

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

export const USE_WORKER_VERSION = new DeclaredAction('worker.use_version');

/**
 * New workflows start on this version from now on, and workflows that are not pinned continue on it.
 * @throws UserError if no worker of the version has polled every task queue
 */
export async function setCurrentVersion(
  client: BoundedClient,
  { deploymentName, buildId }: WorkerVersion,
): Promise<void> {
  try {
    await client.call(({ workflowService, options: { namespace } }) =>
      workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId }),
    );
  } catch (error) {
    if (!hasStatus(error, [status.NOT_FOUND, status.FAILED_PRECONDITION])) throw error;
    throw new UserError(
      `The version ${buildId} cannot become the current one: start its workers in all roles, until they poll.`,
    );
  }
}
