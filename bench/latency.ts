import { setTimeout as sleep } from 'node:timers/promises';
import { prepareBenchmarks, TIMED_OPERATIONS, type TimedOperation } from './benchmarks';
import type { BenchmarkHarness } from './harness';
import { percentile } from './statistics';

/** Between two operations, so that the second one finds every process idle. */
const PAUSE_MS = 50;
const BLOCK = 10;

export interface LatencyFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Milliseconds of one operation at a time. */
export type LatencyResult = Readonly<Record<TimedOperation, LatencyFigures>>;

/** Times single operations, in blocks of ten in alternating order. `count` is for each operation. */
export async function measureLatency(
  harness: BenchmarkHarness,
  { count }: { readonly count: number },
  log: (line: string) => void,
): Promise<LatencyResult> {
  const prepared = await prepareBenchmarks(harness);
  const latenciesMs: Record<TimedOperation, number[]> = { noop: [], create: [], dbosCreate: [], paidToWebhook: [] };
  const block = async (name: TimedOperation): Promise<void> => {
    if (name === 'dbosCreate') harness.resume('dbos');
    for (let index = 0; index < BLOCK; index += 1) {
      latenciesMs[name].push(await prepared.timed[name]());
      await sleep(PAUSE_MS);
    }
    if (name === 'dbosCreate') harness.pause('dbos');
  };
  const figures = (name: TimedOperation): LatencyFigures => ({
    p50Ms: percentile(latenciesMs[name], 0.5),
    p99Ms: percentile(latenciesMs[name], 0.99),
  });
  try {
    for (const name of TIMED_OPERATIONS) await block(name);
    for (const name of TIMED_OPERATIONS) latenciesMs[name] = [];
    for (let done = 0; done < count; done += BLOCK) {
      const isForward = (done / BLOCK) % 2 === 0;
      for (const name of isForward ? TIMED_OPERATIONS : TIMED_OPERATIONS.toReversed()) await block(name);
    }
  } finally {
    await prepared.close();
  }
  for (const name of TIMED_OPERATIONS) log(`${name}: ${latenciesMs[name].map(Math.round).join(' ')} ms`);
  return {
    noop: figures('noop'),
    create: figures('create'),
    dbosCreate: figures('dbosCreate'),
    paidToWebhook: figures('paidToWebhook'),
  };
}
