import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../src/package';
import { Http } from './http';
import { closedLoop } from './load';
import { Merchant, registerMerchant } from './merchant';
import { Meter } from './meter';
import { Rig } from './rig';

interface Part {
  /** A package, one of our folders, or what V8 says of itself. */
  readonly where: string;
  /** Of the process's time that was not idle. */
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

const LIVES_UNDER_WAY = 96;
/** A process profiles itself from so long after its start. */
const WARMUP_SECONDS = 5;
const SMALLEST_SHARE = 0.01;
/** Waiting is no work. */
const IDLE = new Set(['(idle)', '(root)']);

/** Runs whole lives with the profiler on; the profiles stay in bench/results for DevTools. */
export async function measureProfile(seconds: number): Promise<ProfileResult> {
  const folder = path.join(PACKAGE_ROOT, 'bench', 'results', 'profiles');
  const processes = ['api', 'worker'] as const;
  const startedAt = Date.now();
  const folderOf = (name: string): string => path.join(folder, `${name}-${startedAt}`);
  const profiled = async (name: string): Promise<NodeJS.ProcessEnv> => {
    await mkdir(folderOf(name), { recursive: true });
    return {
      NODE_OPTIONS: `--require ${path.join(PACKAGE_ROOT, 'bench', 'profiled.cjs')}`,
      BENCH_PROFILE_FOLDER: folderOf(name),
      BENCH_PROFILE_START_MS: String(WARMUP_SECONDS * 1_000),
      BENCH_PROFILE_LENGTH_MS: String(seconds * 1_000),
    };
  };
  const rig = await Rig.start({ environment: { api: await profiled('api'), worker: await profiled('worker') } });
  try {
    await live(rig, seconds);
  } finally {
    await rig.close();
  }
  const results = await Promise.all(processes.map(async (name) => [name, await partsOf(folderOf(name))] as const));
  return Object.fromEntries(results);
}

async function live(rig: Rig, seconds: number): Promise<void> {
  const { stack, masterKey, receiver } = rig;
  const [api, sandbox] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl)];
  const receiverUrl = `${receiver.url}/lives`;
  const secretKey = await registerMerchant({ databaseUrl: stack.databaseUrl, masterKey, receiverUrl });
  const merchant = new Merchant(api, sandbox, secretKey);
  const loop = { concurrency: LIVES_UNDER_WAY, warmupSeconds: WARMUP_SECONDS, seconds: seconds + WARMUP_SECONDS };
  await closedLoop(async () => receiver.life((await merchant.createAndPay()).id), loop, new Meter(rig.processes));
  await Promise.all([api.close(), sandbox.close()]);
}

/** All threads of a process together. */
async function partsOf(folder: string): Promise<Part[]> {
  const microseconds = new Map<string, number>();
  for (const file of await readdir(folder)) {
    const { nodes, samples, timeDeltas } = profileSchema.parse(
      JSON.parse(await readFile(path.join(folder, file), 'utf8')),
    );
    const whereOf = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
    for (const [index, id] of samples.entries()) {
      const where = whereOf.get(id) ?? '(unknown)';
      microseconds.set(where, (microseconds.get(where) ?? 0) + (timeDeltas[index] ?? 0));
    }
  }
  const worked = [...microseconds].filter(([where]) => !IDLE.has(where));
  const total = worked.reduce((sum, [, spent]) => sum + spent, 0);
  return worked
    .map(([where, spent]) => ({ where, share: spent / total }))
    .filter(({ share }) => share >= SMALLEST_SHARE)
    .toSorted((a, b) => b.share - a.share);
}

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)/g;
const OURS = /\/dist\/((?:src\/)?[^/]+)/;

function placeOf({ functionName, url }: { functionName: string; url: string }): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(V8 and Node.js, native)';
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const innermost = [...url.matchAll(PACKAGE)].at(-1)?.[1];
  return innermost ?? OURS.exec(url)?.[1] ?? '(workflow bundle)';
}
