import { setTimeout as sleep } from 'node:timers/promises';
import { prepareBenchmarks, TIMED_OPERATIONS, type TimedOperation, type TimedOperations } from './benchmarks';
import type { BenchmarkHarness } from './harness';
import { openLoop } from './load-generator';
import { percentile } from './statistics';

/** Between two operations, so that the second one finds every process idle. */
const PAUSE_MS = 50;
const BLOCK = 10;

export interface LatencyFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Payments a second. A busy service has ten times those of an idle one. */
export const WEBHOOK_LOADS = { idle: 1, busy: 10 } as const;
type WebhookLoad = keyof typeof WEBHOOK_LOADS;

/** Milliseconds of one operation at a time; and from a payment to its webhook, for payments at a fixed rate. */
export type LatencyResult = Readonly<Record<TimedOperation, LatencyFigures>> & {
  readonly webhooks: Readonly<Record<WebhookLoad, LatencyFigures>>;
};

/** Times single operations, in blocks of ten in alternating order. `count` is for each operation. */
export async function measureLatency(
  harness: BenchmarkHarness,
  { count, loadSeconds }: { readonly count: number; readonly loadSeconds: number },
  log: (line: string) => void,
): Promise<LatencyResult> {
  const prepared = await prepareBenchmarks(harness);
  const latenciesMs: Record<TimedOperation, number[]> = { noop: [], create: [], paidToWebhook: [] };
  const block = async (name: TimedOperation): Promise<void> => {
    for (let index = 0; index < BLOCK; index += 1) {
      latenciesMs[name].push(await prepared.timed[name]());
      await sleep(PAUSE_MS);
    }
  };
  let webhooks: LatencyResult['webhooks'];
  try {
    for (const name of TIMED_OPERATIONS) await block(name);
    for (const name of TIMED_OPERATIONS) latenciesMs[name] = [];
    for (let done = 0; done < count; done += BLOCK) {
      const isForward = (done / BLOCK) % 2 === 0;
      for (const name of isForward ? TIMED_OPERATIONS : TIMED_OPERATIONS.toReversed()) await block(name);
    }
    webhooks = await measureWebhooks(prepared.timed, loadSeconds);
  } finally {
    await prepared.close();
  }
  for (const name of TIMED_OPERATIONS) log(`${name}: ${latenciesMs[name].map(Math.round).join(' ')} ms`);
  return {
    noop: figuresOf(latenciesMs.noop),
    create: figuresOf(latenciesMs.create),
    paidToWebhook: figuresOf(latenciesMs.paidToWebhook),
    webhooks,
  };
}

/** Each load twice, in alternating order. */
async function measureWebhooks(
  { paidToWebhook }: Pick<TimedOperations, 'paidToWebhook'>,
  seconds: number,
): Promise<LatencyResult['webhooks']> {
  const latenciesMs: Record<WebhookLoad, number[]> = { idle: [], busy: [] };
  for (const load of ['idle', 'busy', 'busy', 'idle'] as const) {
    const operation = async (): Promise<void> => void latenciesMs[load].push(await paidToWebhook());
    await openLoop(operation, { perSecond: WEBHOOK_LOADS[load], seconds });
  }
  return { idle: figuresOf(latenciesMs.idle), busy: figuresOf(latenciesMs.busy) };
}

function figuresOf(latenciesMs: readonly number[]): LatencyFigures {
  return { p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) };
}
