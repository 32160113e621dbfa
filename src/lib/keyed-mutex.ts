import { Mutex, withTimeout, type MutexInterface } from 'async-mutex';

/** The time of a request: a caller that waits for the mutex this long gets an error, and its work is not done. */
const TIMEOUT_MS = 10_000;

/** Work on one payment is executed one after the other, in the order in which it reached this process. */
export type KeyedMutex = ReturnType<typeof createKeyedMutex>;

export function createKeyedMutex() {
  const queues = new Map<string, { readonly mutex: MutexInterface; callers: number }>();
  return {
    /**
     * @param work gets the Unix time after which its caller no longer waits for the result
     * @throws QueueTimeoutError if other work under the key takes longer than 10 s
     */
    async runExclusive<Result>(key: string, work: (deadlineAtMs: number) => Promise<Result>): Promise<Result> {
      const deadlineAtMs = Date.now() + TIMEOUT_MS;
      const queue = queues.get(key) ?? { mutex: createMutex(), callers: 0 };
      queues.set(key, queue);
      queue.callers += 1;
      try {
        return await queue.mutex.runExclusive(() => work(deadlineAtMs));
      } finally {
        queue.callers -= 1;
        if (queue.callers === 0) queues.delete(key);
      }
    },
  };
}

/** The work of the caller was not done. */
export class QueueTimeoutError extends Error {
  constructor() {
    super('Earlier requests for this payment took too long');
  }
}

function createMutex(): MutexInterface {
  return withTimeout(new Mutex(), TIMEOUT_MS, new QueueTimeoutError());
}
