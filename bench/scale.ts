import { BULK_ITEMS, CONCURRENT_BULKS, fillExpiring, measureBurst, type BurstResult } from './burst';
import { residentMegabytesOf } from './cpu';
import type { BenchmarkHarness } from './harness';
import { Http } from './http';
import { closedLoop, times } from './load-generator';
import { BenchmarkMerchant, registerMerchant } from './merchant';
import { Meter } from './meter';
import { median } from './statistics';

const CALLERS = 32;
const MAX_ATTEMPTS = 5;
/** The payments have to be created before they expire, with time for the measurements before. */
const EXPIRY_MARGIN = 1.5;

export interface ScaleOptions {
  readonly fewOpen: number;
  readonly manyOpen: number;
  /** How many of `manyOpen` expire in the same second. */
  readonly expiring: number;
  /** The duration of each measurement. */
  readonly seconds: number;
}

export interface ScaleResult {
  readonly fewOpen: number;
  readonly manyOpen: number;
  readonly createsPerSecond: { readonly few: number; readonly many: number; readonly ratio: number };
  readonly workerMegabytes: { readonly few: number; readonly many: number };
  readonly burst: BurstResult;
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
    const fillSeconds = (expiring / perSecond + 10 * seconds) * EXPIRY_MARGIN;
    const expiresAtMs = await fillExpiring(harness.db, merchant, { expiring, seconds: fillSeconds });
    const many = { perSecond: await creates(), megabytes: workerMegabytes(harness) };
    log(`${manyOpen} open: ${Math.round(many.perSecond)} creates a second, worker ${Math.round(many.megabytes)} MB`);
    const burst = await measureBurst(harness, merchant, { expiresAtMs, probeSeconds: seconds }, log);
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

async function countOpen(harness: BenchmarkHarness): Promise<number> {
  const { rows } = await harness.db.query<{ open: number }>(
    `select count(*) as open from payments where status = 'pending'`,
  );
  return rows[0]?.open ?? 0;
}

function workerMegabytes(harness: BenchmarkHarness): number {
  return residentMegabytesOf(harness.processes()['worker'] ?? 0);
}
