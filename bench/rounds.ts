import { BENCHMARKS, prepareBenchmarks, type BenchmarkName, type Measurement } from './benchmarks';
import type { BenchmarkHarness } from './harness';
import type { Reading } from './meter';
import { measuredRatios, type MeasuredRatio, type Round } from './ratios';
import { median, percentile, spreadOf, type Spread } from './statistics';

export interface BenchmarkFigures {
  readonly perSecond: Spread;
  /** Milliseconds of CPU per operation, by process; the median of the rounds. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Median of the rounds; NaN if latencies were not measured. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface RoundsResult {
  readonly rounds: number;
  readonly ratios: readonly MeasuredRatio[];
  readonly benchmarks: Readonly<Record<string, BenchmarkFigures>>;
  /** How many times a benchmark's rate the generator's CPU allows, for benchmarks over HTTP. */
  readonly headroom: Readonly<Record<string, number>>;
}

/** In these benchmarks each operation is one request of the generator. */
const REQUESTED_OVER_HTTP = ['create', 'bareGet', 'get', 'replay'] as const;
/** A process with less CPU did not take part. */
const MIN_CPU_MS = 0.005;

/** Each round measures every benchmark once, in alternating order: A B … B A A B … */
export async function measureRounds(
  harness: BenchmarkHarness,
  { rounds, only, ...measurement }: Measurement & { readonly rounds: number; readonly only?: readonly BenchmarkName[] },
  log: (line: string) => void,
): Promise<RoundsResult> {
  const prepared = await prepareBenchmarks(harness);
  const { benchmarks } = prepared;
  const names = BENCHMARKS.filter((name) => only?.includes(name) ?? true);
  const measured: Partial<Round>[] = [];
  try {
    // Warm-up: V8 compiles what runs for the first time.
    for (const name of names) await benchmarks[name]({ warmupSeconds: 0.5, seconds: 1 });
    for (let round = 1; round <= rounds; round += 1) {
      const readings: Partial<Record<BenchmarkName, Reading>> = {};
      for (const name of round % 2 === 1 ? names : names.toReversed())
        readings[name] = await benchmarks[name](measurement);
      measured.push(readings);
      const rates = names.map((name) => `${name} ${Math.round(readings[name]?.perSecond ?? 0)}`);
      log(`round ${round} of ${rounds}, per second: ${rates.join(', ')}`);
    }
  } finally {
    await prepared.close();
  }
  const figures = names.map((name) => [name, figuresOf(measured.flatMap((round) => round[name] ?? []))] as const);
  return {
    rounds,
    ratios: measuredRatios(measured, harness.keepsTemporalInPostgres),
    benchmarks: Object.fromEntries(figures),
    headroom: headroomOf(Object.fromEntries(figures)),
  };
}

function figuresOf(readings: readonly Reading[]): BenchmarkFigures {
  const processes = Object.keys(readings[0]?.cpuMs ?? {});
  const cpu = processes.map((name) => [name, median(readings.map(({ cpuMs }) => cpuMs[name] ?? 0))] as const);
  return {
    perSecond: spreadOf(readings.map(({ perSecond }) => perSecond)),
    cpuMs: Object.fromEntries(cpu.filter(([, milliseconds]) => milliseconds >= MIN_CPU_MS)),
    p50Ms: median(readings.map(({ latenciesMs }) => percentile(latenciesMs, 0.5))),
    p99Ms: median(readings.map(({ latenciesMs }) => percentile(latenciesMs, 0.99))),
  };
}

/** On a core without other load the generator has 1,000 ms of CPU per second. */
function headroomOf(figures: Readonly<Record<string, BenchmarkFigures>>): Record<string, number> {
  return Object.fromEntries(
    REQUESTED_OVER_HTTP.flatMap((name) => {
      const benchmark = figures[name];
      const cpuMs = benchmark?.cpuMs['generator'];
      return benchmark && cpuMs !== undefined ? [[name, 1_000 / cpuMs / benchmark.perSecond.median]] : [];
    }),
  );
}
