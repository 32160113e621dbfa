import { setTimeout as sleep } from 'node:timers/promises';
import {
  DUE_MERCHANTS_PAGE,
  findRequestTimes,
  listDueMerchants,
  type DueMerchant,
} from '../../db/queries/due-merchants';
import type { ScheduledPayouts, ScheduledPayoutsPart, ScheduledPayoutsRun } from '../../domain/payout-schedule';
import { forEachConcurrent } from '../../lib/for-each-concurrent';
import type { Logger } from '../../observability/logger';
import { payoutIdOf, previewPayout, termsOf, type PayoutDependencies } from './payouts';

/** A balance can need several payouts: each has a largest number of lines, and its rail a largest amount. */
const MAX_PAYOUTS_PER_DAY = 20;
/** So that payments beside the run are as fast as without it. */
const STARTS_PER_SECOND = 20;
const CONCURRENCY = 4;
/** More than a few merchants fail only if a part of Lunas does not work: the same part is repeated then. */
const MAX_FAILED = 50;
/** Half an hour. Then those that failed wait for the end of the run, so that the pages after this one are paid. */
const MAX_ATTEMPTS_OF_PAGE = 30;

export interface ScheduleDependencies extends PayoutDependencies {
  readonly log: Pick<Logger, 'warn'>;
}

interface Watch extends ScheduledPayoutsRun {
  /** The worker stops: the same part is repeated elsewhere. */
  readonly stopSignal: AbortSignal;
}

/**
 * Requests the payouts of the merchants who are due, for a page of them. A merchant who got a payout in an earlier run
 * of the day gets no other one. A part that is repeated continues.
 */
export async function requestScheduledPayouts(
  dependencies: ScheduleDependencies,
  part: ScheduledPayoutsPart,
  { attempt, onProgress, stopSignal }: Watch,
): Promise<ScheduledPayouts> {
  const due = await listDueMerchants(dependencies.db, part);
  const pace = paceOf(STARTS_PER_SECOND);
  const failed: string[] = [];
  const isRepeated = part.merchantIds === null && attempt < MAX_ATTEMPTS_OF_PAGE;
  let requested = 0;
  await forEachConcurrent(due, CONCURRENCY, async (merchant) => {
    stopSignal.throwIfAborted();
    try {
      const ofMerchant = await requestOfMerchant(dependencies, part, merchant, pace);
      requested += ofMerchant;
    } catch (error) {
      dependencies.log.warn({ err: error, merchantId: merchant.merchantId }, 'scheduled payout not requested');
      failed.push(merchant.merchantId);
      if (isRepeated && failed.length > MAX_FAILED) throw error;
    }
    onProgress();
  });
  const last = due.length === DUE_MERCHANTS_PAGE ? due.at(-1) : undefined;
  return { requested, failed, next: last?.merchantId ?? null };
}

/** @returns how many payouts were requested now */
async function requestOfMerchant(
  { db, workflows }: ScheduleDependencies,
  { day, startedAtMs }: ScheduledPayoutsPart,
  { merchantId, minimumRupiah }: DueMerchant,
  pace: () => Promise<void>,
): Promise<number> {
  const ids = Array.from({ length: MAX_PAYOUTS_PER_DAY }, (_, index) =>
    payoutIdOf(merchantId, `schedule:${day}:${index + 1}`),
  );
  const times = await findRequestTimes(db, ids);
  if (times.some((at) => at.getTime() < startedAtMs)) return 0;
  let requested = 0;
  for (const payoutId of ids.slice(times.length)) {
    await pace();
    const at = new Date();
    const preview = await previewPayout(db, merchantId, at);
    if (preview.outcome === 'rejected' || preview.grossRupiah < minimumRupiah) break;
    const request = { payoutId, merchantId, by: { name: 'schedule' }, ...termsOf(payoutId, preview) } as const;
    // Rejected: the balance or what keeps payouts back has changed meanwhile. The next run pays.
    if ((await workflows.request(request)).outcome === 'rejected') break;
    requested += 1;
  }
  return requested;
}

/** Each call waits until it is its turn. */
function paceOf(perSecond: number): () => Promise<void> {
  let nextAtMs = 0;
  return async () => {
    const nowMs = performance.now();
    const atMs = Math.max(nowMs, nextAtMs);
    nextAtMs = atMs + 1_000 / perSecond;
    await sleep(atMs - nowMs);
  };
}
