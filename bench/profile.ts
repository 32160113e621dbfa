import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { pollUntil } from '../src/lib/poll-until';
import { PACKAGE_ROOT } from '../src/package-info';
import { prepareBenchmarks, type BenchmarkName } from './benchmarks';
import { BenchmarkHarness } from './harness';
import type { Reading } from './meter';

interface Part {
  /** A package, a directory of Lunas, a function of V8 or Node.js in C++, or a part of V8. */
  readonly where: string;
  /** Milliseconds for each operation. */
  readonly ms: number;
}

const PROCESSES = ['api', 'worker'] as const;
type ProcessName = (typeof PROCESSES)[number];

/** The processes that work for each operation. What another one spends meanwhile has other causes. */
const PROFILED = [
  ['create', 'api'],
  ['create', 'worker'],
  ['get', 'api'],
  ['replay', 'api'],
  ['lifecycle', 'api'],
  ['lifecycle', 'worker'],
  ['deliver', 'worker'],
] as const satisfies readonly (readonly [BenchmarkName, ProcessName])[];

/** What a process spent its time on for one operation. */
interface ProfiledProcess {
  readonly benchmark: BenchmarkName;
  readonly process: ProcessName;
  /** Milliseconds for each operation. */
  readonly totalMs: number;
  /** The most expensive first. */
  readonly parts: readonly Part[];
}
export type ProfileResult = readonly ProfiledProcess[];

const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string() }),
    }),
  ),
  /** Microseconds of the monotonic clock. */
  startTime: z.number(),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});
type ThreadProfile = z.output<typeof profileSchema>;

const WARMUP_SECONDS = 5;
/** Parts with a smaller share of the time of the process are one part. */
const MIN_SHARE = 0.01;
const IDLE = new Set(['(idle)', '(root)']);
const OTHER_THREADS = '(threads without JavaScript)';
const OTHER_PARTS = '(other parts)';
/** A regular expression is the name of its function. */
const MAX_NAME = 40;
const STOP_TIMEOUT_MS = 60_000;

/** Runs some benchmarks with the profiler on. The profiles stay in bench/results for DevTools. */
export async function measureProfile(seconds: number, log: (line: string) => void): Promise<ProfileResult> {
  const root = path.join(PACKAGE_ROOT, 'bench', 'results', 'profiles');
  const startedAt = Date.now();
  const directoryOf = (name: string): string => path.join(root, `${name}-${startedAt}`);
  const profiled = async (name: string): Promise<NodeJS.ProcessEnv> => {
    await mkdir(directoryOf(name), { recursive: true });
    return {
      NODE_OPTIONS: `--require ${path.join(PACKAGE_ROOT, 'bench', 'profiled.cjs')}`,
      BENCH_PROFILE_DIRECTORY: directoryOf(name),
    };
  };
  const harness = await BenchmarkHarness.start({
    environment: { api: await profiled('api'), worker: await profiled('worker') },
  });
  const readings = new Map<BenchmarkName, Reading>();
  try {
    const prepared = await prepareBenchmarks(harness);
    for (const name of new Set(PROFILED.map(([benchmark]) => benchmark))) {
      readings.set(name, await prepared.benchmarks[name]({ warmupSeconds: WARMUP_SECONDS, seconds }));
      log(`profile: ${name}`);
    }
    await prepared.close();
    await Promise.all(PROCESSES.map((name) => stopProfiles(directoryOf(name))));
  } finally {
    await harness.close();
  }
  const threads = {
    api: await readProfiles(directoryOf('api')),
    worker: await readProfiles(directoryOf('worker')),
  };
  return PROFILED.flatMap(([benchmark, process]) => {
    const reading = readings.get(benchmark);
    return reading ? [profileOf(benchmark, process, { reading, threads: threads[process] })] : [];
  });
}

/** Resolves when every thread of a process has written its profile. */
async function stopProfiles(directory: string): Promise<void> {
  await writeFile(path.join(directory, 'stop'), '');
  const areWritten = async (): Promise<true | undefined> => {
    const files = await readdir(directory);
    const countOf = (extension: string) => files.filter((file) => file.endsWith(extension)).length;
    return countOf('.cpuprofile') === countOf('.started') ? true : undefined;
  };
  await pollUntil('the profiles are written', areWritten, {
    timeoutMs: STOP_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
}

async function readProfiles(directory: string): Promise<ThreadProfile[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.cpuprofile'));
  const texts = await Promise.all(files.map((file) => readFile(path.join(directory, file), 'utf8')));
  return texts.map((text) => profileSchema.parse(JSON.parse(text)));
}

/** Adds up all threads. Of those without JavaScript, such as Temporal's core, only the sum is known. */
function profileOf(
  benchmark: BenchmarkName,
  process: ProfiledProcess['process'],
  { reading, threads }: { readonly reading: Reading; readonly threads: readonly ThreadProfile[] },
): ProfiledProcess {
  const totalMs = reading.cpuMs[process] ?? 0;
  const spent = new Map<string, number>();
  const perOperation = 1 / (1_000 * reading.operations);
  for (const thread of threads) addThread(spent, thread, reading, perOperation);
  const known = [...spent].filter(([where]) => !IDLE.has(where)).map(([where, ms]) => ({ where, ms }));
  const knownMs = known.reduce((sum, { ms }) => sum + ms, 0);
  const isShown = ({ ms }: Part) => ms >= MIN_SHARE * totalMs;
  const othersMs = known.reduce((sum, part) => sum + (isShown(part) ? 0 : part.ms), 0);
  const parts = [
    ...known,
    { where: OTHER_THREADS, ms: Math.max(totalMs - knownMs, 0) },
    { where: OTHER_PARTS, ms: othersMs },
  ];
  return { benchmark, process, totalMs, parts: parts.filter(isShown).toSorted((a, b) => b.ms - a.ms) };
}

/** Adds the samples of the time in which the benchmark was measured. */
function addThread(
  spent: Map<string, number>,
  { nodes, startTime, samples, timeDeltas }: ThreadProfile,
  { endedAtUs, seconds }: Reading,
  perOperation: number,
): void {
  const whereOf = new Map(nodes.map(({ id, callFrame }) => [id, locationOf(callFrame)]));
  let atUs = startTime;
  for (const [index, id] of samples.entries()) {
    const lastedUs = timeDeltas[index] ?? 0;
    atUs += lastedUs;
    if (atUs < endedAtUs - seconds * 1e6 || atUs > endedAtUs) continue;
    const where = whereOf.get(id) ?? '(unknown)';
    spent.set(where, (spent.get(where) ?? 0) + lastedUs * perOperation);
  }
}

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)/g;
const OURS = /\/dist\/((?:src\/)?[^/]+)/;

function locationOf({ functionName, url }: { functionName: string; url: string }): string {
  if (url === '') return functionName.startsWith('(') ? functionName : `native ${functionName.slice(0, MAX_NAME)}`;
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const innermost = [...url.matchAll(PACKAGE)].at(-1)?.[1];
  return innermost ?? OURS.exec(url)?.[1] ?? '(workflow bundle)';
}
