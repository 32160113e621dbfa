import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { Command, InvalidArgumentError, Option } from 'commander';
import { PACKAGE_ROOT } from '../src/package';
import { measureCandidates } from './candidates';
import { measureIsolation } from './isolation';
import { buildTemporalServer, hasTemporalServer } from './postgres-temporal';
import { measureProfile } from './profile';
import { reportOf, type Results } from './report';
import { Rig, type RigOptions } from './rig';
import { measureRounds } from './rounds';
import { measureScale } from './scale';
import { measureStorage } from './storage';

const BY_DEFAULT = ['ratios', 'scale', 'isolation'] as const satisfies readonly Part[];
/** What depends on Temporal's persistence. */
const ON_POSTGRES = ['noop', 'create', 'life'] as const;

const SIZES = {
  whole: {
    rounds: { rounds: 5, warmupSeconds: 1, seconds: 6 },
    scale: { fewOpen: 1_000, manyOpen: 20_000, expiring: 10_000, seconds: 4 },
    isolation: { pairs: 2, seconds: 4 },
    candidates: { pairs: 2, seconds: 4 },
    profileSeconds: 20,
    storedLives: 1_000,
  },
  quick: {
    rounds: { rounds: 2, warmupSeconds: 0.5, seconds: 1.5 },
    scale: { fewOpen: 200, manyOpen: 1_000, expiring: 500, seconds: 1.5 },
    isolation: { pairs: 1, seconds: 2 },
    candidates: { pairs: 1, seconds: 2 },
    profileSeconds: 5,
    storedLives: 100,
  },
} as const;

type Size = Omit<(typeof SIZES)['whole' | 'quick'], 'rounds'> & {
  readonly rounds: { readonly rounds: number; readonly warmupSeconds: number; readonly seconds: number };
};

/** What can be measured, each part on databases of its own. */
const PARTS = {
  ratios: async ({ rounds }: Size) => ({ rounds: await onRig({}, (rig) => measureRounds(rig, rounds, say)) }),
  scale: async ({ scale }: Size) => ({ scale: await onRig({}, (rig) => measureScale(rig, scale, say)) }),
  isolation: async ({ isolation }: Size) => ({
    isolation: await onRig({}, (rig) => measureIsolation(rig, isolation, say)),
  }),
  postgres: async ({ rounds }: Size) => {
    await buildTemporalServer(new AbortController().signal, say);
    const some = { ...rounds, only: ON_POSTGRES };
    return { postgres: await onRig({ postgresTemporal: true }, (rig) => measureRounds(rig, some, say)) };
  },
  candidates: async ({ candidates }: Size) => ({ candidates: await measureCandidates(candidates, say) }),
  profile: async ({ profileSeconds }: Size) => ({ profile: await measureProfile(profileSeconds) }),
  storage: async ({ storedLives }: Size) => ({ storage: await measureStorage(storedLives) }),
} as const satisfies Record<string, (size: Size) => Promise<Partial<Results>>>;
type Part = keyof typeof PARTS;

interface Options {
  readonly quick?: boolean;
  readonly only?: Part;
  readonly rounds?: number;
}

function readOptions(): Options {
  return new Command('npm run bench --')
    .description('Measures what the service costs, beside its peers (bench/README.md).')
    .option('--quick', 'about three minutes: the same measurements, each of them shorter and smaller')
    .addOption(
      new Option(
        '--only <part>',
        'one part; without it: ratios, scale (open payments and a burst), isolation and, where such a server was built ' +
          'before, postgres (Temporal with PostgreSQL persistence; --only postgres builds it, with Go)',
      ).choices(Object.keys(PARTS)),
    )
    .option('--rounds <count>', 'how often each subject is measured (5; with --quick 2)', roundsOf)
    .parse()
    .opts<Options>();
}

function roundsOf(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 to 999.');
  return Number(text);
}

async function main(): Promise<void> {
  const { quick, only, rounds } = readOptions();
  const size = SIZES[quick ? 'quick' : 'whole'];
  const parts = only ? [only] : [...BY_DEFAULT, ...(hasTemporalServer() ? (['postgres'] as const) : [])];
  const results = await measure(parts, {
    ...size,
    rounds: { ...size.rounds, ...(rounds !== undefined && { rounds }) },
  });
  process.stdout.write(`${reportOf(results)}\n`);
}

/** Part by part; what was measured is kept, whatever becomes of the parts after it. */
async function measure(parts: readonly Part[], size: Size): Promise<Results> {
  const folder = path.join(PACKAGE_ROOT, 'bench', 'results');
  await mkdir(folder, { recursive: true });
  const results: Results = aboutThisRun();
  for (const part of parts) {
    try {
      Object.assign(results, await PARTS[part](size));
      await writeFile(path.join(folder, 'latest.json'), `${JSON.stringify(results, null, 2)}\n`);
    } catch (error) {
      say(`${part} could not be measured: ${inspect(error)}`);
      process.exitCode = 1;
    }
  }
  return results;
}

async function onRig<Result>(options: RigOptions, run: (rig: Rig) => Promise<Result>): Promise<Result> {
  const rig = await Rig.start(options);
  try {
    return await run(rig);
  } finally {
    await rig.close();
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

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

// What was started is stopped, and the folder removed, when this process exits.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

main().catch((error: unknown) => {
  process.stderr.write(`${inspect(error)}\n`);
  process.exit(1);
});
