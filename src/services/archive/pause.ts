import { setTimeout as sleep } from 'node:timers/promises';

/** The time between two batches, in durations of a batch. */
const PAUSES = 2;

/** Waits twice as long after the work as it took, also if it failed, so that creates beside it stay fast. */
export async function pauseAfter<Result>(work: () => Promise<Result>): Promise<Result> {
  const startedAtMs = performance.now();
  try {
    return await work();
  } finally {
    await sleep(PAUSES * (performance.now() - startedAtMs));
  }
}
