import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { Command, InvalidArgumentError, Option } from 'commander';
import { PACKAGE_ROOT } from '../src/package-info';
import { buildTemporalServer, hasTemporalServer } from '../test/support/postgres-temporal';
import { measureBurstAlone } from './burst';
import { BenchmarkHarness, type BenchmarkHarnessOptions } from './harness';
import { measureIsolation } from './isolation';
import { compareWithKillBill } from './kill-bill/compare';
import { measureLatency } from './latency';
import { measureMemory } from './memory';
import { measurePages } from './pages';
import { measureProfile } from './profile';
import { reportOf, type Results } from './report';
import { measureRounds } from './rounds';
import { measureScale } from './scale';
import { measureStorage } from './storage';

const BY_DEFAULT = ['latency', 'ratios', 'scale', 'isolation', 'pages'] as const satisfies readonly Part[];
/** The benchmarks that depend on Temporal's persistence. */
const ON_POSTGRES = ['noop', 'create', 'bareLifecycle', 'lifecycle'] as const;

const SIZES = {
  whole: {
    rounds: { rounds: 5, warmupSeconds: 1, seconds: 6 },
    latency: { count: 200, loadSeconds: 20 },
    scale: { fewOpen: 1_000, manyOpen: 20_000, expiring: 10_000, seconds: 4 },
    burst: { expiring: 10_000, fillSeconds: 420, probeSeconds: 4 },
    isolation: { pairs: 2, seconds: 4 },
    pages: { rounds: 5, samples: 20, createSeconds: 5 },
    profileSeconds: 10,
    storedLifecycles: 1_000,
    memorySeconds: 3_600,
    killBill: { warmup: 3_000, pairs: 2, seconds: 20, single: 20, storedLifecycles: 500 },
  },
  quick: {
    rounds: { rounds: 2, warmupSeconds: 0.5, seconds: 1.5 },
    latency: { count: 20, loadSeconds: 3 },
    scale: { fewOpen: 200, manyOpen: 1_000, expiring: 500, seconds: 1.5 },
    burst: { expiring: 500, fillSeconds: 90, probeSeconds: 1.5 },
    isolation: { pairs: 1, seconds: 2 },
    pages: { rounds: 1, samples: 5, createSeconds: 1.5 },
    profileSeconds: 3,
    storedLifecycles: 100,
    memorySeconds: 60,
    killBill: { warmup: 300, pairs: 1, seconds: 3, single: 5, storedLifecycles: 100 },
  },
} as const;

type Size = Omit<(typeof SIZES)['whole' | 'quick'], 'rounds'> & {
  readonly rounds: { readonly rounds: number; readonly warmupSeconds: number; readonly seconds: number };
};

/** Each part has its own databases. */
const PARTS = {
  latency: async ({ latency }: Size) => ({
    latency: await withHarness({}, (harness) => measureLatency(harness, latency, log)),
  }),
  ratios: async ({ rounds }: Size) => ({
    rounds: await withHarness({}, (harness) => measureRounds(harness, rounds, log)),
  }),
  scale: async ({ scale }: Size) => ({ scale: await withHarness({}, (harness) => measureScale(harness, scale, log)) }),
  burst: async ({ burst }: Size) => ({
    burst: await withHarness({}, (harness) => measureBurstAlone(harness, burst, log)),
  }),
  isolation: async ({ isolation }: Size) => ({
    isolation: await withHarness({}, (harness) => measureIsolation(harness, isolation, log)),
  }),
  postgres: async ({ rounds }: Size) => {
    await buildTemporalServer(new AbortController().signal, log);
    const some = { ...rounds, only: ON_POSTGRES };
    return { postgres: await withHarness({ postgresTemporal: true }, (harness) => measureRounds(harness, some, log)) };
  },
  pages: async ({ pages }: Size) => ({ pages: await withHarness({}, (harness) => measurePages(harness, pages, log)) }),
  profile: async ({ profileSeconds }: Size) => ({ profile: await measureProfile(profileSeconds, log) }),
  memory: async ({ memorySeconds }: Size) => ({
    memory: await withHarness({}, (harness) => measureMemory(harness, memorySeconds)),
  }),
  'kill-bill': async ({ killBill }: Size): Promise<Partial<Results>> => {
    const compared = await compareWithKillBill(killBill, log);
    return compared === undefined ? {} : { killBill: compared };
  },
  storage: async ({ storedLifecycles }: Size) => ({ storage: await measureStorage(storedLifecycles) }),
} as const satisfies Record<string, (size: Size) => Promise<Partial<Results>>>;
type Part = keyof typeof PARTS;

interface Options {
  readonly quick?: boolean;
  readonly only?: Part;
  readonly rounds?: number;
}

function readOptions(): Options {
  return new Command('npm run bench --')
    .description('Measures Lunas and its baselines (bench/README.md).')
    .option('--quick', 'about three minutes: the same measurements, each of them shorter and smaller')
    .addOption(
      new Option(
        '--only <part>',
        'one part; default: latency (of an idle machine), ratios, scale (open payments and a burst), isolation, ' +
          'pages, and postgres (Temporal with PostgreSQL persistence) if its server was built before; ' +
          '--only postgres builds it',
      ).choices(Object.keys(PARTS)),
    )
    .option('--rounds <count>', 'how often each benchmark is measured (5; with --quick 2)', parseRounds)
    .parse()
    .opts<Options>();
}

function parseRounds(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 to 999.');
  return Number(text);
}

async function main(): Promise<void> {
  const { quick, only, rounds } = readOptions();
  const size = SIZES[quick ? 'quick' : 'whole'];
  const parts = only ? [only] : [...BY_DEFAULT, ...(hasTemporalServer() ? (['postgres'] as const) : [])];
  const results = await measure(parts, `${only ?? 'latest'}.json`, {
    ...size,
    rounds: { ...size.rounds, ...(rounds !== undefined && { rounds }) },
  });
  process.stdout.write(`${reportOf(results)}\n`);
}

/** Writes the results after each part, so that a part that fails loses none. */
async function measure(parts: readonly Part[], file: string, size: Size): Promise<Results> {
  const directory = path.join(PACKAGE_ROOT, 'bench', 'results');
  await mkdir(directory, { recursive: true });
  const results: Results = aboutThisRun();
  for (const part of parts) {
    try {
      Object.assign(results, await PARTS[part](size));
      await writeFile(path.join(directory, file), `${JSON.stringify(results, null, 2)}\n`);
    } catch (error) {
      log(`${part} could not be measured: ${inspect(error)}`);
      process.exitCode = 1;
    }
  }
  return results;
}

async function withHarness<Result>(
  options: BenchmarkHarnessOptions,
  run: (harness: BenchmarkHarness) => Promise<Result>,
): Promise<Result> {
  const harness = await BenchmarkHarness.start(options);
  try {
    return await run(harness);
  } finally {
    await harness.close();
  }
}

function aboutThisRun(): Pick<Results, 'startedAt' | 'commit' | 'machine'> {
  const cpus = os.cpus();
  return {
    startedAt: new Date().toISOString(),
    commit: commit(),
    machine: {
      cores: cpus.length,
      model: cpus[0]?.model.trim() ?? 'unknown',
      node: process.versions.node,
      load: os.loadavg()[0] ?? 0,
    },
  };
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: PACKAGE_ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'without git';
  }
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

// At its exit this process stops its children and removes its directory.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

main().catch((error: unknown) => {
  process.stderr.write(`${inspect(error)}\n`);
  process.exit(1);
});
