import { setTimeout as sleep } from 'node:timers/promises';
import {
  DUE_MERCHANTS_PAGE,
  findRequestTimes,
  listDueMerchants,
  type DueMerchant,
} from '../../db/payouts/due-merchants';
import type { ScheduledPayouts, ScheduledPayoutsPart, ScheduledPayoutsRun } from '../../domain/payout-schedule';
import { forEachConcurrent } from '../../lib/for-each-concurrent';
import type { Logger } from '../../observability/logger';
import { payoutIdOf, previewPayout, termsOf, type PayoutDependencies } from './payouts';
import { takeTurn } from './request-turn';

/** A balance can need several payouts: each has a largest number of lines, and its rail a largest amount. */
const MAX_PAYOUTS_PER_DAY = 200;
/** A line that comes in between changes the sum: the request is rejected then, and the next preview has it. */
const MAX_PREVIEWS = 4;
/** At this rate payments beside the run are as fast as without it. */
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
      for await (const _payoutId of requestOfMerchant(dependencies, part, merchant, pace)) {
        requested += 1;
        onProgress();
        if (stopSignal.aborted) break;
      }
    } catch (error) {
      dependencies.log.warn({ err: error, merchantId: merchant.merchantId }, 'scheduled payout not requested');
      failed.push(merchant.merchantId);
      if (isRepeated && failed.length > MAX_FAILED) throw error;
    }
    onProgress();
    stopSignal.throwIfAborted();
  });
  const last = due.length === DUE_MERCHANTS_PAGE ? due.at(-1) : undefined;
  return { requested, failed, next: last?.merchantId ?? null };
}

/** Requests payouts until nothing is left to pay. @returns their ids */
async function* requestOfMerchant(
  dependencies: ScheduleDependencies,
  { day, startedAtMs }: ScheduledPayoutsPart,
  merchant: DueMerchant,
  pace: () => Promise<void>,
): AsyncGenerator<string> {
  const ids = Array.from({ length: MAX_PAYOUTS_PER_DAY }, (_, index) =>
    payoutIdOf(merchant.merchantId, `schedule:${day}:${index + 1}`),
  );
  const times = await findRequestTimes(dependencies.db, ids);
  if (times.some((at) => at.getTime() < startedAtMs)) return;
  for (const payoutId of ids.slice(times.length)) {
    if (!(await requestNext(dependencies, { payoutId, ...merchant }, pace))) return;
    yield payoutId;
  }
}

/** @returns false if there is nothing to pay, or something keeps it back */
async function requestNext(
  { db, workflows }: ScheduleDependencies,
  { payoutId, merchantId, minimumRupiah }: DueMerchant & { readonly payoutId: string },
  pace: () => Promise<void>,
): Promise<boolean> {
  for (let previews = 0; previews < MAX_PREVIEWS; previews += 1) {
    await pace();
    const preview = await previewPayout(db, merchantId, new Date());
    if (preview.outcome === 'rejected' || preview.balanceRupiah < minimumRupiah) return false;
    if (!(await takeTurn({ db, workflows }, { payoutId, merchantId }))) return false;
    const request = { payoutId, merchantId, by: { name: 'schedule' }, ...termsOf(payoutId, preview) } as const;
    if ((await workflows.request(request)).outcome === 'requested') return true;
  }
  return false;
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
