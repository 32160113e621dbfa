import { setTimeout as sleep } from 'node:timers/promises';

/** A task that is repeated. */
export interface Repetition {
  /** Resolves when the task in progress is complete. */
  stop(): Promise<void>;
}

/**
 * Repeats a task until the stop, with a pause between the end of one run and the start of the next.
 * @param task has to handle its errors; it gets a signal of the stop
 */
export function repeat(pauseMs: number, task: (stopping: AbortSignal) => Promise<void>): Repetition {
  const stopping = new AbortController();
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await task(stopping.signal);
      await sleep(pauseMs, undefined, stopping).catch(() => undefined);
    }
  }
}
