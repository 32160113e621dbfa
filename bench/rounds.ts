import type { Reading } from './meter';
import { measuredRatios, type MeasuredRatio, type Round } from './ratios';
import type { BenchmarkHarness } from './harness';
import { median, percentile, spreadOf, type Spread } from './statistics';
import { prepareBenchmarks, BENCHMARKS, type Measurement, type BenchmarkName } from './benchmarks';

export interface BenchmarkFigures {
  readonly perSecond: Spread;
  /** Milliseconds of CPU for each operation, by process; the median over the rounds. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Median over the rounds; NaN where none were taken. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface RoundsResult {
  readonly rounds: number;
  readonly ratios: readonly MeasuredRatio[];
  readonly benchmarks: Readonly<Record<string, BenchmarkFigures>>;
  /** How many times a subject's rate the generator's own CPU would allow, for those that it asks over HTTP. */
  readonly headroom: Readonly<Record<string, number>>;
}

/** In which a rate is that of the generator's requests. */
const REQUESTED_OVER_HTTP = ['create', 'dbosCreate', 'bareGet', 'get', 'replay'] as const;
/** Below this a process had nothing to do with it. */
const MIN_CPU_MS = 0.005;

/** Every subject once a round, forwards and backwards in turn: A B … B A A B … */
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
    // What runs for the first time is not yet compiled.
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

/** A core of its own gives the generator 1,000 ms of CPU a second. */
function headroomOf(figures: Readonly<Record<string, BenchmarkFigures>>): Record<string, number> {
  return Object.fromEntries(
    REQUESTED_OVER_HTTP.flatMap((name) => {
      const benchmark = figures[name];
      const cpuMs = benchmark?.cpuMs['generator'];
      return benchmark && cpuMs !== undefined ? [[name, 1_000 / cpuMs / benchmark.perSecond.median]] : [];
    }),
  );
}
