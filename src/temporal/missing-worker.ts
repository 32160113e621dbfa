import { status } from '@grpc/grpc-js';
import { messageOf } from '../errors';
import { hasStatus, isWithoutResponse } from './grpc-errors';

/** A call that a worker has to process got no response. Temporal, or the workers of the task queue, are away. */
export class NoWorkerResponse extends Error {
  constructor(
    readonly taskQueue: string,
    cause: unknown,
  ) {
    super(messageOf(cause), { cause });
  }
}

/** Temporal responds, and no worker takes tasks of the queue. */
export class MissingWorkerError extends Error {
  constructor(taskQueue: string, cause: unknown) {
    super(`no worker polls ${taskQueue}`, { cause });
  }
}

/** Temporal rejects a query if it has seen no worker of the task queue for minutes. */
export function mayLackWorker(error: unknown): boolean {
  return isWithoutResponse(error) || hasStatus(error, [status.FAILED_PRECONDITION]);
}
