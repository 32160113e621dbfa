import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../src/db/connection/pool';
import { setPolicy } from '../src/services/provider-accounts/catalog';
import type { BenchmarkHarness } from './harness';
import { Http } from './http';
import { closedLoop, openLoop } from './load-generator';
import { BenchmarkMerchant, registerMerchant } from './merchant';
import { Meter } from './meter';
import { percentile } from './statistics';

export const BULK_ITEMS = 50;
export const CONCURRENT_BULKS = 2;
/** No bulk starts so shortly before the payments expire. */
const FILL_ENDS_BEFORE_MS = 40_000;
const DRAIN_TIMEOUT_MS = 300_000;
/** A part of a closed loop's rate: the creates during the burst must not be the bottleneck themselves. */
const PART_OF_CAPACITY = 0.25;
const CALLERS = 32;

export interface BurstResult {
  /** How many payments expired within ten seconds. */
  readonly expiring: number;
  readonly inFullestSecond: number;
  /** From that second until the last one is expired, or to the timeout. */
  readonly drainSeconds: number;
  /** Still open at that time. */
  readonly left: number;
  readonly createsPerSecond: number;
  /** The latency of creates with the status 201, from the time for which they were scheduled. */
  readonly p99Ms: { readonly before: number; readonly during: number; readonly ratio: number };
  /** The responses to the creates during the burst. */
  readonly responses: CreateResponses;
}

interface CreateResponses {
  readonly created: number;
  /** 429, by the overload rule. */
  readonly rejected: number;
  /** Every other status, and creates without a response within 30 s. */
  readonly others: number;
  readonly slowestMs: number;
}

export interface BurstOptions {
  readonly expiring: number;
  /** Until the payments expire: the time to create them. */
  readonly fillSeconds: number;
  readonly probeSeconds: number;
}

/** A burst on new databases, in which nearly all payments expire in the same second. */
export async function measureBurstAlone(
  harness: BenchmarkHarness,
  { expiring, fillSeconds, probeSeconds }: BurstOptions,
  log: (line: string) => void,
): Promise<BurstResult> {
  const { databaseUrl, apiUrl, sandboxUrl } = harness.stack;
  const [api, sandbox] = [new Http(apiUrl), new Http(sandboxUrl)];
  const secretKey = await registerMerchant({ databaseUrl, masterKey: harness.masterKey });
  const merchant = new BenchmarkMerchant(api, sandbox, secretKey);
  try {
    const expiresAtMs = await fillExpiring(harness.db, merchant, { expiring, seconds: fillSeconds });
    return await measureBurst(harness, merchant, { expiresAtMs, probeSeconds }, log);
  } finally {
    await Promise.all([api.close(), sandbox.close()]);
  }
}

/**
 * Creates payments with the same expiry: each second the policy gets a new version, as from
 * `lunas catalog set --expires-in`. @returns the expiry in milliseconds
 */
export async function fillExpiring(
  db: Pool,
  merchant: BenchmarkMerchant,
  { expiring, seconds }: { readonly expiring: number; readonly seconds: number },
): Promise<number> {
  const policy = { provider: 'gopay', channel: 'qris' } as const;
  const expiresAtMs = Math.ceil(Date.now() / 1_000 + seconds) * 1_000;
  let left = expiring;
  for (;;) {
    if (left <= 0 || Date.now() >= expiresAtMs - FILL_ENDS_BEFORE_MS) break;
    // The time to live starts at the end of the second in which the payment is created.
    const second = Math.floor(Date.now() / 1_000) * 1_000;
    await setPolicy(db, { ...policy, expiresInSeconds: (expiresAtMs - second - 1_000) / 1_000 });
    const bulk = async (): Promise<void> => {
      while (left > 0 && Date.now() < second + 700) {
        left -= BULK_ITEMS;
        await merchant.createBulk(BULK_ITEMS).catch(() => {
          left += BULK_ITEMS;
        });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_BULKS }, bulk));
    const delayMs = second + 1_000 - Date.now();
    if (delayMs > 0) await sleep(delayMs);
  }
  await setPolicy(db, { ...policy, expiresInSeconds: 86_400 });
  return expiresAtMs;
}

/** Creates payments at a constant rate, from the burst until every payment of it is expired. */
export async function measureBurst(
  harness: BenchmarkHarness,
  merchant: BenchmarkMerchant,
  { expiresAtMs, probeSeconds }: { readonly expiresAtMs: number; readonly probeSeconds: number },
  log: (line: string) => void,
): Promise<BurstResult> {
  const probe = { concurrency: CALLERS, warmupSeconds: 0.5, seconds: 2 };
  const { perSecond: capacity } = await closedLoop(() => merchant.createOnly(), probe, new Meter(harness.processes));
  const perSecond = Math.max(Math.round(capacity * PART_OF_CAPACITY), 1);
  const before = await openLoop(() => merchant.createOnly(), { perSecond, seconds: Math.max(probeSeconds * 2, 10) });

  const window = [new Date(expiresAtMs - 5_000), new Date(expiresAtMs + 5_000)] as const;
  const { expiring, inFullestSecond } = await countExpiring(harness.db, window);
  log(`waiting for ${expiring} payments to expire, ${Math.round((expiresAtMs - Date.now()) / 1_000)} s from now`);
  await sleep(Math.max(expiresAtMs - Date.now(), 0));
  const drained = new AbortController();
  const responses = new ResponseCount();
  const create = () => responses.count(merchant);
  const during = openLoop(create, { perSecond, seconds: DRAIN_TIMEOUT_MS / 1_000 }, drained.signal);
  const left = await drain(harness.db, window, expiresAtMs + DRAIN_TIMEOUT_MS);
  const drainSeconds = (Date.now() - expiresAtMs) / 1_000;
  drained.abort();
  const { latenciesMs } = await during;
  const p99Ms = { before: percentile(before.latenciesMs, 0.99), during: percentile(latenciesMs, 0.99) };
  const result = {
    expiring,
    inFullestSecond,
    drainSeconds,
    left,
    createsPerSecond: perSecond,
    p99Ms: { ...p99Ms, ratio: p99Ms.during / p99Ms.before },
    responses: responses.result(),
  };
  log(`${expiring} expired, ${left} left after ${drainSeconds.toFixed(1)} s: ${JSON.stringify(result.responses)}`);
  return result;
}

type Window = readonly [Date, Date];

/** @returns how many of them are open at the deadline */
async function drain(db: Pool, window: Window, deadlineAtMs: number): Promise<number> {
  for (;;) {
    const { rows } = await db.query<{ left: number }>(
      `select count(*)::integer as left from payments where status = 'pending' and expires_at between $1 and $2`,
      [...window],
    );
    const left = rows[0]?.left ?? 0;
    if (left === 0 || Date.now() >= deadlineAtMs) return left;
    await sleep(500);
  }
}

async function countExpiring(db: Pool, window: Window): Promise<{ expiring: number; inFullestSecond: number }> {
  const { rows } = await db.query<{ all: number; fullest: number }>(
    `select sum(n)::integer as all, max(n)::integer as fullest from (
       select count(*) as n from payments where expires_at between $1 and $2
       group by date_trunc('second', expires_at)) each`,
    [...window],
  );
  return { expiring: rows[0]?.all ?? 0, inFullestSecond: rows[0]?.fullest ?? 0 };
}

class ResponseCount {
  #created = 0;
  #rejected = 0;
  #others = 0;
  #slowestMs = 0;

  /** @throws an error for each status but 201, so that only these have a latency */
  async count(merchant: BenchmarkMerchant): Promise<void> {
    const startedAt = performance.now();
    const status = await merchant.sendCreate().then(
      (response) => response.status,
      () => null,
    );
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - startedAt);
    if (status === 201) this.#created += 1;
    else if (status === 429) this.#rejected += 1;
    else this.#others += 1;
    if (status !== 201) throw new Error(`POST /payments: ${status ?? 'no response'}`);
  }

  result(): CreateResponses {
    return {
      created: this.#created,
      rejected: this.#rejected,
      others: this.#others,
      slowestMs: Math.round(this.#slowestMs),
    };
  }
}
