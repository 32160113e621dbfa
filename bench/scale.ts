import { setTimeout as sleep } from 'node:timers/promises';
import { setPolicy } from '../src/operator/catalog';
import { residentMegabytesOf } from './cpu';
import { Http } from './http';
import { closedLoop, openLoop, times, type Latencies } from './load-generator';
import { BenchmarkMerchant, registerMerchant } from './merchant';
import { Meter } from './meter';
import type { BenchmarkHarness } from './harness';
import { median, percentile } from './statistics';

const BULK_ITEMS = 50;
const CONCURRENT_BULKS = 2;
const CALLERS = 32;
const MAX_ATTEMPTS = 5;
/** The payments have to be created before they expire, with time for the measurements before. */
const EXPIRY_MARGIN = 1.5;

export interface ScaleOptions {
  readonly fewOpen: number;
  readonly manyOpen: number;
  /** How many of `manyOpen` expire in the same second. */
  readonly expiring: number;
  /** Of each measurement. */
  readonly seconds: number;
}

export interface ScaleResult {
  readonly fewOpen: number;
  readonly manyOpen: number;
  readonly createsPerSecond: { readonly few: number; readonly many: number; readonly ratio: number };
  readonly workerMegabytes: { readonly few: number; readonly many: number };
  readonly burst: BurstResult;
}

export interface BurstResult {
  /** How many payments expired; `ScaleOptions.expiring` is what was planned. */
  readonly expiring: number;
  readonly inFullestSecond: number;
  /** From that second until the last one is expired, or to the timeout. */
  readonly drainSeconds: number;
  /** Still open at that time. */
  readonly left: number;
  readonly createsPerSecond: number;
  readonly p99Ms: { readonly before: number; readonly during: number; readonly ratio: number };
  readonly failures: number;
}

/** The cost of many open payments, and of a burst in which many of them expire together. */
export async function measureScale(
  harness: BenchmarkHarness,
  options: ScaleOptions,
  log: (line: string) => void,
): Promise<ScaleResult> {
  const { fewOpen, manyOpen, expiring, seconds } = options;
  const { stack, masterKey } = harness;
  const [api, sandbox] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl)];
  const merchant = new BenchmarkMerchant(
    api,
    sandbox,
    await registerMerchant({ databaseUrl: stack.databaseUrl, masterKey }),
  );
  /** Replaces bulks that fail on a busy machine. @returns the creates per second */
  const fill = async (upTo: number): Promise<number> => {
    const startedAt = performance.now();
    const before = await countOpen(harness);
    for (
      let attempt = 1, open = before;
      open < upTo && attempt <= MAX_ATTEMPTS;
      attempt += 1, open = await countOpen(harness)
    ) {
      const bulks = Math.ceil((upTo - open) / BULK_ITEMS);
      await times(bulks, CONCURRENT_BULKS, () => merchant.createBulk(BULK_ITEMS).catch(() => undefined));
    }
    return ((upTo - before) * 1_000) / (performance.now() - startedAt);
  };
  const creates = async () => {
    const rates: number[] = [];
    for (const _repetition of [1, 2, 3]) {
      const loop = { concurrency: CALLERS, warmupSeconds: 1, seconds };
      rates.push((await closedLoop(() => merchant.createOnly(), loop, new Meter(harness.processes))).perSecond);
    }
    return median(rates);
  };
  try {
    await fill(fewOpen);
    const few = { perSecond: await creates(), megabytes: workerMegabytes(harness) };
    log(`${fewOpen} open: ${Math.round(few.perSecond)} creates a second, worker ${Math.round(few.megabytes)} MB`);
    const perSecond = await fill(manyOpen - expiring);
    const expiresAtMs = await fillExpiring(harness, merchant, {
      expiring,
      seconds: expiring / perSecond + 10 * seconds,
    });
    const many = { perSecond: await creates(), megabytes: workerMegabytes(harness) };
    log(`${manyOpen} open: ${Math.round(many.perSecond)} creates a second, worker ${Math.round(many.megabytes)} MB`);
    const burst = await measureBurst(harness, merchant, { expiresAtMs, expiring, seconds }, log);
    const { before, during } = burst.p99Ms;
    log(
      `${burst.expiring} expired, ${burst.left} left after ${burst.drainSeconds.toFixed(1)} s; ` +
        `concurrent creates: p99 ${Math.round(before)} → ${Math.round(during)} ms, ${burst.failures} failed`,
    );
    return {
      fewOpen,
      manyOpen,
      createsPerSecond: { few: few.perSecond, many: many.perSecond, ratio: many.perSecond / few.perSecond },
      workerMegabytes: { few: few.megabytes, many: many.megabytes },
      burst,
    };
  } finally {
    await Promise.all([api.close(), sandbox.close()]);
  }
}

/**
 * Creates payments with the same expiry: each second the policy gets a new version, as from
 * `lunas catalog set --expires-in`. @returns the expiry in milliseconds
 */
async function fillExpiring(
  harness: BenchmarkHarness,
  merchant: BenchmarkMerchant,
  { expiring, seconds }: { readonly expiring: number; readonly seconds: number },
): Promise<number> {
  const policy = { provider: 'gopay', channel: 'qris' } as const;
  const expiresAtMs = Math.ceil(Date.now() / 1_000 + seconds * EXPIRY_MARGIN) * 1_000;
  let left = expiring;
  for (;;) {
    if (left <= 0) break;
    // The time to live starts at the end of the second in which the payment is created.
    const second = Math.floor(Date.now() / 1_000) * 1_000;
    await setPolicy(harness.db, { ...policy, expiresInSeconds: (expiresAtMs - second - 1_000) / 1_000 });
    const bulk = async (): Promise<void> => {
      while (left > 0 && Date.now() < second + 700) {
        left -= BULK_ITEMS;
        await merchant.createBulk(BULK_ITEMS).catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_BULKS }, bulk));
    const delayMs = second + 1_000 - Date.now();
    if (delayMs > 0) await sleep(delayMs);
  }
  await setPolicy(harness.db, { ...policy, expiresInSeconds: 86_400 });
  return expiresAtMs;
}

const DRAIN_TIMEOUT_MS = 300_000;
/** A part of a closed loop's rate: the creates during the burst must not be the bottleneck themselves. */
const PART_OF_CAPACITY = 0.25;

async function measureBurst(
  harness: BenchmarkHarness,
  merchant: BenchmarkMerchant,
  { expiresAtMs, expiring, seconds }: { expiresAtMs: number; expiring: number; seconds: number },
  log: (line: string) => void,
): Promise<BurstResult> {
  const probe = { concurrency: CALLERS, warmupSeconds: 0.5, seconds: 2 };
  const { perSecond: capacity } = await closedLoop(() => merchant.createOnly(), probe, new Meter(harness.processes));
  const perSecond = Math.max(Math.round(capacity * PART_OF_CAPACITY), 1);
  const create = () => merchant.createOnly();
  const before = await openLoop(create, { perSecond, seconds: Math.max(seconds * 2, 10) });

  log(`waiting for ${expiring} payments to expire, ${Math.round((expiresAtMs - Date.now()) / 1_000)} s from now`);
  await sleep(Math.max(expiresAtMs - Date.now(), 0));
  const drained = new AbortController();
  const during = openLoop(create, { perSecond, seconds: DRAIN_TIMEOUT_MS / 1_000 }, drained.signal);
  const window = [new Date(expiresAtMs - 5_000), new Date(expiresAtMs + 5_000)];
  const countLeft = async (): Promise<number> => {
    const { rows: counted } = await harness.db.query<{ left: number }>(
      `select count(*) as left from payments where status = 'pending' and expires_at between $1 and $2`,
      window,
    );
    return counted[0]?.left ?? 0;
  };
  let left = await countLeft();
  for (; left > 0 && Date.now() < expiresAtMs + DRAIN_TIMEOUT_MS; left = await countLeft()) await sleep(500);
  const drainSeconds = (Date.now() - expiresAtMs) / 1_000;
  drained.abort();
  const { latenciesMs, failures } = await during;
  const { rows } = await harness.db.query<{ all: number; fullest: number }>(
    `select sum(n)::integer as all, max(n) as fullest from (
       select count(*) as n from payments where expires_at between $1 and $2 group by expires_at) each`,
    window,
  );
  const p99 = (latencies: Latencies['latenciesMs']) => percentile(latencies, 0.99);
  const p99Ms = { before: p99(before.latenciesMs), during: p99(latenciesMs) };
  return {
    expiring: rows[0]?.all ?? 0,
    inFullestSecond: rows[0]?.fullest ?? 0,
    drainSeconds,
    left,
    createsPerSecond: perSecond,
    p99Ms: { ...p99Ms, ratio: p99Ms.during / p99Ms.before },
    failures: failures + before.failures,
  };
}

async function countOpen(harness: BenchmarkHarness): Promise<number> {
  const { rows } = await harness.db.query<{ open: number }>(
    `select count(*) as open from payments where status = 'pending'`,
  );
  return rows[0]?.open ?? 0;
}

function workerMegabytes(harness: BenchmarkHarness): number {
  return residentMegabytesOf(harness.processes()['worker'] ?? 0);
}
