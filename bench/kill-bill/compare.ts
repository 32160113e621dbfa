import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { onlyRow } from '../../src/db/connection/require-row';
import { messageOf } from '../../src/errors';
import { withClient } from '../../src/local-stack/postgres';
import { BenchmarkHarness } from '../harness';
import { Http } from '../http';
import { closedLoop, oneAtATime, times, type BenchmarkOperation } from '../load-generator';
import { BenchmarkMerchant, registerMerchant } from '../merchant';
import { Meter, type Processes, type Reading } from '../meter';
import { median } from '../statistics';
import { fetchKillBill, KILL_BILL_VERSION, type KillBillArtifacts } from './artifacts';
import { KillBillMerchant } from './merchant';
import { startKillBill } from './server';

export const COMPARED_OPERATIONS = ['create', 'lifecycle', 'get'] as const;
export type ComparedOperation = (typeof COMPARED_OPERATIONS)[number];
type Operations = Readonly<Record<ComparedOperation, BenchmarkOperation>>;

/** The medians of the readings of one operation. */
interface OperationFigures {
  /** One at a time. */
  readonly p50Ms: number;
  readonly perSecond: number;
  /** All processes of the side together. */
  readonly cpuMs: number;
  readonly cpuMsByProcess: Readonly<Record<string, number>>;
}

export interface SideFigures {
  readonly operations: Readonly<Record<ComparedOperation, OperationFigures>>;
  /** For each lifecycle: what databases and histories grow by. */
  readonly storedKb: number;
  readonly walKb: number;
}
export type KillBillResult = Readonly<Record<SideName, SideFigures>>;

/** What is compared. */
interface Side {
  readonly operations: Operations;
  readonly processes: Processes;
  readonly sizes: () => Promise<Sizes>;
  close(): Promise<void>;
}
interface Sizes {
  readonly stored: number;
  readonly wal: number;
}
const SIDES = ['lunas', 'killBill'] as const;
export type SideName = (typeof SIDES)[number];

export interface KillBillSize {
  /** How often Kill Bill runs each operation before: Java compiles only what has run some thousand times. */
  readonly warmup: number;
  readonly pairs: number;
  readonly seconds: number;
  readonly single: number;
  readonly storedLifecycles: number;
}

/**
 * Few, because a busy machine rejects creates beyond its capacity. What is compared is CPU time. A lifecycle of Lunas
 * waits a second for its settlement: with few of them, most of the CPU time is for waking up.
 */
const CALLERS = { create: 3, lifecycle: 24, get: 3 } as const satisfies Record<ComparedOperation, number>;
const KNOWN_PAYMENTS = 30;
const WARMUP_SECONDS = 10;
const KB = 1_000;

/**
 * Measures both in the order A B B A, on two PostgreSQL servers with the same settings. The side that is not measured
 * is idle.
 * @returns undefined if Kill Bill is not in the cache and cannot be downloaded
 */
export async function compareWithKillBill(
  size: KillBillSize,
  log: (line: string) => void,
): Promise<KillBillResult | undefined> {
  const artifacts = await fetchKillBill(log).catch((error: unknown) => {
    log(`kill-bill is skipped, which needs Maven, a JDK and Kill Bill ${KILL_BILL_VERSION}: ${messageOf(error)}`);
    return undefined;
  });
  if (artifacts === undefined) return undefined;
  const harness = await BenchmarkHarness.start();
  try {
    log(`Kill Bill ${KILL_BILL_VERSION} starts`);
    const sides = { lunas: await openLunas(harness), killBill: await openKillBill(harness, artifacts) };
    try {
      return await measureSides(sides, size, log);
    } finally {
      await Promise.all(SIDES.map((side) => sides[side].close()));
    }
  } finally {
    await harness.close();
  }
}

async function measureSides(
  sides: Readonly<Record<SideName, Side>>,
  size: KillBillSize,
  log: (line: string) => void,
): Promise<KillBillResult> {
  const rounds: Record<SideName, Readonly<Record<ComparedOperation, Measured>>[]> = { lunas: [], killBill: [] };
  for (const name of COMPARED_OPERATIONS) {
    await times(size.warmup, CALLERS[name], sides.killBill.operations[name]);
    await measure(sides.lunas, name, { seconds: WARMUP_SECONDS, single: 0 });
  }
  for (let pair = 0; pair < size.pairs; pair += 1) {
    for (const side of [...SIDES, ...SIDES.toReversed()]) {
      const round = {
        create: await measure(sides[side], 'create', size),
        lifecycle: await measure(sides[side], 'lifecycle', size),
        get: await measure(sides[side], 'get', size),
      };
      rounds[side].push(round);
      const rates = COMPARED_OPERATIONS.map((name) => `${name} ${round[name].rate.perSecond.toFixed(1)}/s`);
      log(`${side}: ${rates.join(', ')}`);
    }
  }
  const figures = async (side: SideName): Promise<SideFigures> => ({
    operations: {
      create: figuresOf(rounds[side].map(({ create }) => create)),
      lifecycle: figuresOf(rounds[side].map(({ lifecycle }) => lifecycle)),
      get: figuresOf(rounds[side].map(({ get }) => get)),
    },
    ...(await measureSizes(sides[side], size.storedLifecycles)),
  });
  return { lunas: await figures('lunas'), killBill: await figures('killBill') };
}

interface Measured {
  readonly rate: Reading;
  readonly single: Reading;
}

async function measure(
  { operations, processes }: Side,
  name: ComparedOperation,
  size: Pick<KillBillSize, 'seconds' | 'single'>,
): Promise<Measured> {
  const loop = { concurrency: CALLERS[name], warmupSeconds: 3, seconds: size.seconds };
  const rate = await closedLoop(operations[name], loop, new Meter(processes));
  return { rate, single: await oneAtATime(operations[name], size.single, new Meter(processes)) };
}

function figuresOf(measured: readonly Measured[]): OperationFigures {
  const rates = measured.map(({ rate }) => rate);
  const names = Object.keys(rates[0]?.cpuMs ?? {}).filter((name) => name !== 'generator');
  const cpuMs = names.map((name) => [name, median(rates.map((rate) => rate.cpuMs[name] ?? 0))] as const);
  return {
    p50Ms: median(measured.flatMap(({ single }) => single.latenciesMs)),
    perSecond: median(rates.map(({ perSecond }) => perSecond)),
    cpuMs: cpuMs.reduce((sum, [, milliseconds]) => sum + milliseconds, 0),
    cpuMsByProcess: Object.fromEntries(cpuMs),
  };
}

async function measureSizes(
  { operations, sizes }: Side,
  lifecycles: number,
): Promise<Pick<SideFigures, 'storedKb' | 'walKb'>> {
  const before = await sizes();
  await times(lifecycles, CALLERS.lifecycle, operations.lifecycle);
  const after = await sizes();
  return {
    storedKb: (after.stored - before.stored) / lifecycles / KB,
    walKb: (after.wal - before.wal) / lifecycles / KB,
  };
}

async function openLunas(harness: BenchmarkHarness): Promise<Side> {
  const { stack, masterKey, receiver } = harness;
  const { databaseUrl } = stack;
  const [api, sandbox] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl)];
  const receiverUrl = `${receiver.url}/lifecycles`;
  const register = async (options: { readonly receiverUrl?: string }): Promise<BenchmarkMerchant> =>
    new BenchmarkMerchant(api, sandbox, await registerMerchant({ databaseUrl, masterKey, ...options }));
  const merchant = await register({ receiverUrl });
  const known = await createKnown(async () => (await merchant.create()).id);
  return {
    operations: {
      create: () => merchant.createOnly(),
      lifecycle: async () => receiver.lifecycle((await merchant.createAndPay()).id),
      get: () => merchant.get(known()),
    },
    processes: () => {
      const { api: apiPid = null, worker = null, temporal = null, postgres = null } = harness.processes();
      return { api: apiPid, worker, temporal, postgres };
    },
    async sizes() {
      const { stored, wal } = await sizesOf(databaseUrl);
      const directory = path.dirname(harness.temporalDatabase);
      const files = await Promise.all((await readdir(directory)).map((file) => stat(path.join(directory, file))));
      return { stored: files.reduce((sum, file) => sum + file.size, stored), wal };
    },
    close: async () => void (await Promise.all([api.close(), sandbox.close()])),
  };
}

async function openKillBill(harness: BenchmarkHarness, artifacts: KillBillArtifacts): Promise<Side> {
  const server = await startKillBill(artifacts, path.join(harness.directory, 'kill-bill'));
  const http = new Http(server.url);
  const merchant = await KillBillMerchant.register(http, harness.receiver);
  const known = await createKnown(() => merchant.create());
  return {
    operations: {
      create: async () => void (await merchant.create()),
      lifecycle: () => merchant.lifecycle(),
      get: () => merchant.get(known()),
    },
    processes: server.processes,
    sizes: () => sizesOf(server.databaseUrl),
    async close() {
      await http.close();
      await server.close();
    },
  };
}

async function createKnown(create: () => Promise<string>): Promise<() => string> {
  const ids: string[] = [];
  await times(KNOWN_PAYMENTS, 3, async () => void ids.push(await create()));
  return () => ids[Math.floor(Math.random() * ids.length)] ?? '';
}

function sizesOf(databaseUrl: string): Promise<Sizes> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Sizes>(
      `select pg_database_size(current_database())::float8 as stored, (pg_current_wal_lsn() - '0/0')::float8 as wal`,
    );
    return onlyRow(rows);
  });
}
