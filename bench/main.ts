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
import { Rig } from './rig';
import { measureRounds, type RoundsResult } from './rounds';
import { measureScale } from './scale';
import { measureStorage } from './storage';

const PARTS = ['ratios', 'scale', 'isolation', 'postgres', 'candidates', 'profile', 'storage'] as const;
type Part = (typeof PARTS)[number];
const BY_DEFAULT: readonly Part[] = ['ratios', 'scale', 'isolation'];
/** What depends on Temporal's persistence. */
const ON_POSTGRES = ['noop', 'create', 'life'] as const;

const SIZES = {
  whole: {
    rounds: { rounds: 5, warmupSeconds: 1, seconds: 3 },
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

interface Options {
  readonly quick: boolean;
  readonly only?: Part;
  readonly rounds?: number;
}

function readOptions(): Options {
  return new Command('npm run bench --')
    .description('Measures what the service costs, beside its peers (bench/README.md).')
    .option('--quick', 'less than three minutes: the same measurements, each of them shorter and smaller', false)
    .addOption(
      new Option(
        '--only <part>',
        'one part; without it: ratios, scale (open payments and a burst), isolation and, where such a server was built ' +
          'before, postgres (Temporal with PostgreSQL persistence; --only postgres builds it, with Go)',
      ).choices(PARTS),
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
  const folder = path.join(PACKAGE_ROOT, 'bench', 'results');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'latest.json'), `${JSON.stringify(results, null, 2)}\n`);
  process.stdout.write(`${reportOf(results)}\n`);
}

type Size = Omit<(typeof SIZES)['whole' | 'quick'], 'rounds'> & {
  readonly rounds: { readonly rounds: number; readonly warmupSeconds: number; readonly seconds: number };
};

async function measure(parts: readonly Part[], size: Size): Promise<Results> {
  const about = aboutThisRun();
  const wants = (part: Part): boolean => parts.includes(part);
  return {
    ...about,
    ...(await measureTheService(wants, size)),
    ...(wants('postgres') && { postgres: await measureOnPostgres(size) }),
    ...(wants('candidates') && { candidates: await measureCandidates(size.candidates, say) }),
    ...(wants('profile') && { profile: await measureProfile(size.profileSeconds) }),
    ...(wants('storage') && { storage: await measureStorage(size.storedLives) }),
  };
}

async function measureTheService(wants: (part: Part) => boolean, size: Size): Promise<Partial<Results>> {
  if (!wants('ratios') && !wants('scale') && !wants('isolation')) return {};
  const rig = await Rig.start();
  try {
    return {
      ...(wants('ratios') && { rounds: await measureRounds(rig, size.rounds, say) }),
      ...(wants('scale') && { scale: await measureScale(rig, size.scale, say) }),
      // The last, since what hung is asked for again for some minutes.
      ...(wants('isolation') && { isolation: await measureIsolation(rig, size.isolation, say) }),
    };
  } finally {
    await rig.close();
  }
}

async function measureOnPostgres({ rounds }: Size): Promise<RoundsResult> {
  await buildTemporalServer(new AbortController().signal, say);
  const rig = await Rig.start({ postgresTemporal: true });
  try {
    return await measureRounds(rig, { ...rounds, only: ON_POSTGRES }, say);
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
