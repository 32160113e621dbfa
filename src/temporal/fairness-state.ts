import { Client as GrpcClient, Metadata } from '@grpc/grpc-js';
import { channelCredentials, type TemporalTarget } from './connection';
import { bytesField, fieldsOf, numberField } from './protobuf-fields';

/**
 * Of Temporal's own administration service, in server 1.29: the public API does not show whether a task queue is fair.
 * Temporal Cloud does not offer it.
 */
const METHOD = '/temporal.server.api.adminservice.v1.AdminService/DescribeTaskQueuePartition';
const WORKFLOW_TASKS = 1;
/** The default of a server. Each has its own state. */
const PARTITIONS = [0, 1, 2, 3] as const;
/** `versions_info_internal`, its value, `physical_task_queue_info`, `internal_task_queue_status`. */
const PATH_OF_STATUS = [1, 2, 2, 3] as const;
/** `fair_read_level`, `fair_ack_level`, `fair_max_read_level` */
const FAIR_LEVELS: ReadonlySet<number> = new Set([7, 8, 9]);
/** `read_level`, `ack_level`, `max_read_level` */
const OTHER_LEVELS: ReadonlySet<number> = new Set([1, 2, 6]);

/** `unknown`: no task has waited in the task queue since it exists, so it has no levels. */
export type Fairness = 'fair' | 'unfair' | 'unknown';

/**
 * Whether the server schedules the tasks of a task queue fairly (`matching.enableFairness`).
 * @throws ServiceError, for example UNIMPLEMENTED or PERMISSION_DENIED
 */
export async function fairnessOf(target: TemporalTarget, taskQueue: string, deadlineAtMs: number): Promise<Fairness> {
  const requests = PARTITIONS.map((partition) => requestOf(target.namespace, taskQueue, partition));
  const descriptions = await Promise.all(requests.map((request) => call(target, request, deadlineAtMs)));
  const statuses = PATH_OF_STATUS.reduce<readonly Buffer[]>(
    (messages, field) => messages.flatMap((message) => valuesOf(message, field)),
    descriptions,
  );
  const levels = statuses.flatMap((status) => fieldsOf(status).map(({ id }) => id));
  if (levels.some((id) => FAIR_LEVELS.has(id))) return 'fair';
  return levels.some((id) => OTHER_LEVELS.has(id)) ? 'unfair' : 'unknown';
}

function requestOf(namespace: string, taskQueue: string, partitionId: number): Buffer {
  const fields = [bytesField(1, taskQueue), numberField(2, WORKFLOW_TASKS), numberField(3, partitionId)];
  const unversioned = numberField(2, 1);
  return Buffer.concat([bytesField(1, namespace), bytesField(2, Buffer.concat(fields)), bytesField(3, unversioned)]);
}

function valuesOf(message: Buffer, field: number): Buffer[] {
  return fieldsOf(message).flatMap(({ id, value }) => (id === field ? [value] : []));
}

async function call(target: TemporalTarget, request: Buffer, deadline: number): Promise<Buffer> {
  const { tls, apiKey } = target.security;
  const metadata = new Metadata();
  metadata.set('temporal-namespace', target.namespace);
  if (apiKey !== undefined) metadata.set('authorization', `Bearer ${apiKey}`);
  const client = new GrpcClient(target.address, channelCredentials(target), {
    ...(tls?.serverName !== undefined && { 'grpc.ssl_target_name_override': tls.serverName }),
  });
  const asIs = (bytes: Buffer): Buffer => bytes;
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      client.makeUnaryRequest(METHOD, asIs, asIs, request, metadata, { deadline }, (error, response) =>
        error ? reject(error) : resolve(response ?? Buffer.alloc(0)),
      );
    });
  } finally {
    client.close();
  }
}
