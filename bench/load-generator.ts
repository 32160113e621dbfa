import { setTimeout as sleep } from 'node:timers/promises';
import type { Meter, Reading } from './meter';

/** Repeated by the load generator. It must end by itself after some seconds. */
export type BenchmarkOperation = () => Promise<void>;

export interface ClosedLoop {
  readonly concurrency: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** How many items one operation counts as: 50 for a bulk of 50. */
  readonly items?: number;
}

/** With more failures the figures are worthless. */
const MAX_FAILURE_FRACTION = 0.5;

/**
 * Measures rates: a fixed number of callers, each of which starts the next operation when one is complete.
 * During the warm-up the callers start one after another, so that their operations do not stay synchronous.
 */
export async function closedLoop(operation: BenchmarkOperation, loop: ClosedLoop, meter: Meter): Promise<Reading> {
  const { concurrency, warmupSeconds, seconds, items = 1 } = loop;
  const over = new AbortController();
  let done = 0;
  let latenciesMs: number[] = [];
  const failures: unknown[] = [];
  const call = async (_caller: unknown, index: number): Promise<void> => {
    await sleep((index * warmupSeconds * 1_000) / concurrency);
    for (;;) {
      if (over.signal.aborted) return;
      const startedAt = performance.now();
      try {
        await operation();
        done += 1;
        latenciesMs.push(performance.now() - startedAt);
      } catch (error) {
        failures.push(error);
        await sleep(10);
      }
    }
  };
  const callers = Promise.all(Array.from({ length: concurrency }).map(call));
  await sleep(warmupSeconds * 1_000);
  meter.start();
  const before = done;
  latenciesMs = [];
  await sleep(seconds * 1_000);
  const reading = meter.stop((done - before) * items, failures.length, latenciesMs.slice());
  over.abort();
  await callers;
  assertFewFailures(done, failures);
  return reading;
}

/** Measures single operations: the next one starts when one is complete. */
export async function oneAtATime(operation: BenchmarkOperation, count: number, meter: Meter): Promise<Reading> {
  const latenciesMs: number[] = [];
  meter.start();
  await times(count, 1, async () => {
    const startedAt = performance.now();
    await operation();
    latenciesMs.push(performance.now() - startedAt);
  });
  return meter.stop(count, 0, latenciesMs);
}

export interface OpenLoop {
  readonly perSecond: number;
  readonly seconds: number;
  /** With so many operations in flight the next one waits. Its latency counts from its scheduled time anyway. */
  readonly maxInFlight?: number;
}

export interface Latencies {
  /** Milliseconds from the *scheduled* time to the response. */
  readonly latenciesMs: readonly number[];
  readonly failures: number;
}

/** Measures latencies: a fixed rate that does not depend on the responses. @param until ends the loop early */
export async function openLoop(operation: BenchmarkOperation, loop: OpenLoop, until?: AbortSignal): Promise<Latencies> {
  const { perSecond, seconds, maxInFlight = 1_000 } = loop;
  const latenciesMs: number[] = [];
  let failures = 0;
  const inFlight = new Set<Promise<void>>();
  const startedAt = performance.now();
  for (let index = 0; index < perSecond * seconds; index += 1) {
    if (until?.aborted === true) break;
    const scheduledAt = startedAt + (index * 1_000) / perSecond;
    const delayMs = scheduledAt - performance.now();
    if (delayMs > 0) await sleep(delayMs);
    while (inFlight.size >= maxInFlight) await Promise.race(inFlight);
    const call = operation()
      .then(() => void latenciesMs.push(performance.now() - scheduledAt))
      .catch(() => {
        failures += 1;
      })
      .finally(() => inFlight.delete(call));
    inFlight.add(call);
  }
  await Promise.all(inFlight);
  return { latenciesMs, failures };
}

export async function times(count: number, concurrency: number, operation: BenchmarkOperation): Promise<void> {
  let left = count;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await operation();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
}

function assertFewFailures(done: number, failures: readonly unknown[]): void {
  if (failures.length <= (done + failures.length) * MAX_FAILURE_FRACTION) return;
  throw new Error(`${failures.length} of ${done + failures.length} operations failed`, { cause: failures[0] });
}
