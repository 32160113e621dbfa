import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { loadConfig } from '../src/config';
import { findTemporalBinary } from '../src/local-stack/find-temporal-binary';
import { TEMPORAL_CLI } from '../src/local-stack/temporal-binaries';
import { Progress } from '../src/local-stack/progress';
import { Http } from './http';
import { closedLoop, times } from './load-generator';
import { BenchmarkMerchant, registerMerchant } from './merchant';
import { Meter, type Reading } from './meter';
import { BenchmarkHarness, type WorkerTuning } from './harness';
import { median } from './statistics';

/** Settings of the worker that need no change of the service (`WorkerOptions` of Temporal's SDK). */
const WORKER_CANDIDATES: Readonly<Record<string, WorkerTuning>> = {
  'stack traces in workflows': { environment: { WORKFLOW_STACK_TRACES: 'true' } },
  'no source maps': { environment: { BENCH_NO_SOURCE_MAPS: '1' } },
  'no time limit for workflow code': { environment: { BENCH_NO_WORKFLOW_TIME_LIMIT: '1' } },
  'reuseV8Context off': { options: { reuseV8Context: false } },
  'autoscaling pollers': {
    options: {
      workflowTaskPollerBehavior: { type: 'autoscaling' },
      activityTaskPollerBehavior: { type: 'autoscaling' },
    },
  },
  '100 cached workflows (500 now)': { options: { maxCachedWorkflows: 100 } },
  '2,000 cached workflows': { options: { maxCachedWorkflows: 2_000 } },
  '2 workflow threads': { options: { workflowThreadPoolSize: 2 } },
  '200 concurrent workflow tasks (40 now)': { options: { maxConcurrentWorkflowTaskExecutions: 200 } },
};

/** Settings of Temporal: a shell runs these scripts instead of the binary (`$0`) with its arguments. */
const TEMPORAL_CANDIDATES: Readonly<Record<string, string>> = {
  'GOGC=100 for Temporal (400 now)': 'GOGC=100 exec "$0" "$@"',
  'synchronous=FULL for SQLite (NORMAL now)': 'exec "$0" "${@/synchronous=NORMAL/synchronous=FULL}"',
};

export interface CandidateResult {
  readonly name: string;
  /** The rate as a multiple of the rate without the change; the median of the pairs. */
  readonly creates: number;
  readonly lifecycles: number;
  /** CPU of worker and Temporal per create, as a multiple of the CPU without the change. */
  readonly cpuOfCreate: number;
}

export interface CandidateOptions {
  readonly pairs: number;
  readonly seconds: number;
}

interface Sample {
  readonly create: Reading;
  readonly lifecycle: Reading;
}

const WARMUP_CREATES = 50;
/** More would be rejected by the overload rule. */
const CALLERS = 16;
const CONCURRENT_LIFECYCLES = 24;

/** The order for each candidate is unchanged, changed, changed, unchanged. */
export async function measureCandidates(
  { pairs, seconds }: CandidateOptions,
  log: (line: string) => void,
): Promise<CandidateResult[]> {
  const results: CandidateResult[] = [];
  const harness = await BenchmarkHarness.start();
  const run = await prepareSample(harness, seconds);
  try {
    for (const [name, tuning] of Object.entries(WORKER_CANDIDATES)) {
      const result = await compare(name, pairs, async (changed) => {
        await harness.restartWorker(changed ? tuning : {});
        return run.sample();
      });
      results.push(result);
      log(describe(result));
    }
  } finally {
    await run.close();
    await harness.close();
  }
  for (const [name, script] of Object.entries(TEMPORAL_CANDIDATES)) {
    const result = await compare(name, pairs, (changed) => onFreshHarness(changed ? script : null, seconds));
    results.push(result);
    log(describe(result));
  }
  return results;
}

async function compare(
  name: string,
  pairs: number,
  sample: (changed: boolean) => Promise<Sample>,
): Promise<CandidateResult> {
  const found: { creates: number; lifecycles: number; cpu: number }[] = [];
  for (let pair = 1; pair <= pairs; pair += 1) {
    const samples = new Map<boolean, Sample>();
    for (const changed of pair % 2 === 1 ? [false, true] : [true, false]) samples.set(changed, await sample(changed));
    const [now, then] = [samples.get(false), samples.get(true)];
    if (!now || !then) continue;
    found.push({
      creates: then.create.perSecond / now.create.perSecond,
      lifecycles: then.lifecycle.perSecond / now.lifecycle.perSecond,
      cpu: workerAndTemporalCpu(then.create) / workerAndTemporalCpu(now.create),
    });
  }
  return {
    name,
    creates: median(found.map(({ creates }) => creates)),
    lifecycles: median(found.map(({ lifecycles }) => lifecycles)),
    cpuOfCreate: median(found.map(({ cpu }) => cpu)),
  };
}

function workerAndTemporalCpu({ cpuMs }: Reading): number {
  return (cpuMs['worker'] ?? 0) + (cpuMs['temporal'] ?? 0);
}

async function prepareSample(
  harness: BenchmarkHarness,
  seconds: number,
): Promise<{ sample(): Promise<Sample>; close(): Promise<void> }> {
  const { stack, masterKey, receiver } = harness;
  const [api, sandbox] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl)];
  const receiverUrl = `${receiver.url}/lifecycles`;
  const registered = { databaseUrl: stack.databaseUrl, masterKey };
  const withoutWebhooks = new BenchmarkMerchant(api, sandbox, await registerMerchant(registered));
  const withWebhooks = new BenchmarkMerchant(api, sandbox, await registerMerchant({ ...registered, receiverUrl }));
  return {
    async sample() {
      // A worker is slow after its start. More concurrent creates would time out.
      await times(WARMUP_CREATES, 4, () => withoutWebhooks.createOnly().catch(() => undefined));
      const meter = new Meter(harness.processes);
      const creates = { concurrency: CALLERS, warmupSeconds: 2, seconds };
      const create = await closedLoop(() => withoutWebhooks.createOnly(), creates, meter);
      const lifecycles = { concurrency: CONCURRENT_LIFECYCLES, warmupSeconds: 3, seconds };
      const lifecycle = await closedLoop(
        async () => receiver.lifecycle((await withWebhooks.createAndPay()).id),
        lifecycles,
        meter,
      );
      return { create, lifecycle };
    },
    async close() {
      await Promise.all([api.close(), sandbox.close()]);
    },
  };
}

/** Temporal reads its settings only at its start, so a script that changes them is started in its place. */
async function onFreshHarness(script: string | null, seconds: number): Promise<Sample> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-bench-temporal-'));
  const command = path.join(directory, 'temporal');
  const binary = await findTemporalBinary(TEMPORAL_CLI, loadConfig(), new Progress(), new AbortController().signal);
  await writeFile(command, `#!/bin/bash\nexec bash -c '${script ?? 'exec "$0" "$@"'}' '${binary}' "$@"\n`);
  await chmod(command, 0o755);
  const harness = await BenchmarkHarness.start({ temporalCommand: command });
  const run = await prepareSample(harness, seconds);
  try {
    return await run.sample();
  } finally {
    await run.close();
    await harness.close();
    await rm(directory, { recursive: true, force: true });
  }
}

function describe({ name, creates, lifecycles, cpuOfCreate }: CandidateResult): string {
  const rates = `creates ×${creates.toFixed(2)}, lifecycles ×${lifecycles.toFixed(2)}`;
  return `${name}: ${rates}, worker and Temporal CPU ×${cpuOfCreate.toFixed(2)}`;
}
