import { messageOf } from '../errors';

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
