import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../src/package-info';
import { BenchmarkHarness } from './harness';
import { Http } from './http';
import { closedLoop } from './load-generator';
import { BenchmarkMerchant, registerMerchant } from './merchant';
import { Meter } from './meter';

interface Part {
  /** A package, a directory of Lunas, or a part of V8. */
  readonly where: string;
  /** A part of the time in which the process was not idle. */
  readonly share: number;
}

export type ProfileResult = Readonly<Record<string, readonly Part[]>>;

const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string() }),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

/** More would be rejected by the overload rule. */
const CONCURRENCY = 24;
/** From the start of a process to the start of its profile. */
const WARMUP_SECONDS = 5;
const MIN_SHARE = 0.01;
const IDLE = new Set(['(idle)', '(root)']);

/** Runs lifecycles with the profiler on. The profiles stay in bench/results for DevTools. */
export async function measureProfile(seconds: number): Promise<ProfileResult> {
  const directory = path.join(PACKAGE_ROOT, 'bench', 'results', 'profiles');
  const processes = ['api', 'worker'] as const;
  const startedAt = Date.now();
  const directoryOf = (name: string): string => path.join(directory, `${name}-${startedAt}`);
  const profiled = async (name: string): Promise<NodeJS.ProcessEnv> => {
    await mkdir(directoryOf(name), { recursive: true });
    return {
      NODE_OPTIONS: `--require ${path.join(PACKAGE_ROOT, 'bench', 'profiled.cjs')}`,
      BENCH_PROFILE_DIRECTORY: directoryOf(name),
      BENCH_PROFILE_START_MS: String(WARMUP_SECONDS * 1_000),
      BENCH_PROFILE_LENGTH_MS: String(seconds * 1_000),
    };
  };
  const harness = await BenchmarkHarness.start({
    environment: { api: await profiled('api'), worker: await profiled('worker') },
  });
  try {
    await runLifecycles(harness, seconds);
  } finally {
    await harness.close();
  }
  const results = await Promise.all(processes.map(async (name) => [name, await partsOf(directoryOf(name))] as const));
  return Object.fromEntries(results);
}

async function runLifecycles(harness: BenchmarkHarness, seconds: number): Promise<void> {
  const { stack, masterKey, receiver } = harness;
  const [api, sandbox] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl)];
  const receiverUrl = `${receiver.url}/lifecycles`;
  const secretKey = await registerMerchant({ databaseUrl: stack.databaseUrl, masterKey, receiverUrl });
  const merchant = new BenchmarkMerchant(api, sandbox, secretKey);
  const loop = { concurrency: CONCURRENCY, warmupSeconds: WARMUP_SECONDS, seconds: seconds + WARMUP_SECONDS };
  await closedLoop(
    async () => receiver.lifecycle((await merchant.createAndPay()).id),
    loop,
    new Meter(harness.processes),
  );
  await Promise.all([api.close(), sandbox.close()]);
}

/** Adds up all threads of a process. */
async function partsOf(directory: string): Promise<Part[]> {
  const microseconds = new Map<string, number>();
  for (const file of await readdir(directory)) {
    const { nodes, samples, timeDeltas } = profileSchema.parse(
      JSON.parse(await readFile(path.join(directory, file), 'utf8')),
    );
    const whereOf = new Map(nodes.map(({ id, callFrame }) => [id, locationOf(callFrame)]));
    for (const [index, id] of samples.entries()) {
      const where = whereOf.get(id) ?? '(unknown)';
      microseconds.set(where, (microseconds.get(where) ?? 0) + (timeDeltas[index] ?? 0));
    }
  }
  const worked = [...microseconds].filter(([where]) => !IDLE.has(where));
  const total = worked.reduce((sum, [, spent]) => sum + spent, 0);
  return worked
    .map(([where, spent]) => ({ where, share: spent / total }))
    .filter(({ share }) => share >= MIN_SHARE)
    .toSorted((a, b) => b.share - a.share);
}

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)/g;
const OURS = /\/dist\/((?:src\/)?[^/]+)/;

function locationOf({ functionName, url }: { functionName: string; url: string }): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(V8 and Node.js, native)';
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const innermost = [...url.matchAll(PACKAGE)].at(-1)?.[1];
  return innermost ?? OURS.exec(url)?.[1] ?? '(workflow bundle)';
}
