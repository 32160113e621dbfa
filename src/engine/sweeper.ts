import { setTimeout as sleep } from 'node:timers/promises';
import { openException } from '../db/exceptions';
import { claimOpenNews, closeNotifications, newestNotification, recordTold, type OpenNews } from '../db/notifications';
import { COVERED_BY } from '../domain/provider-status';
import type { Queryable } from '../db/pool';
import type { Logger } from '../log';
import type { PaymentsEngine } from './payments-engine';
import { tellNews } from './tell-news';

const SWEEP_EVERY_MS = 2_000;
const BATCH_SIZE = 50;
/** A word to Temporal costs it as much as a tenth of a payment: where much has piled up, payments get the pause of each sweep. */
const MAX_BATCHES = 10;
const SIDE_BY_SIDE = 10;

interface SweeperDependencies {
  readonly db: Queryable;
  readonly engine: PaymentsEngine;
  readonly log: Logger;
}

/**
 * Tells again what providers have notified us of and nobody has dealt with: a signal that was acknowledged and lost, a process
 * that died before it, an order that nobody knows. Several workers share the work.
 */
export function startSweeper(dependencies: SweeperDependencies): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sweep(dependencies, stopping.signal).catch((error: unknown) => {
        dependencies.log.warn({ err: error }, 'the sweeper could not read what is open');
      });
      await sleep(SWEEP_EVERY_MS, undefined, stopping).catch(() => undefined);
    }
  }
}

/** As long as much is due, and Temporal takes it. */
async function sweep(dependencies: SweeperDependencies, stopping: AbortSignal): Promise<void> {
  for (let batch = 1; batch <= MAX_BATCHES; batch += 1) {
    if ((await tellBatch(dependencies, stopping)) < BATCH_SIZE) return;
  }
}

/**
 * What it has claimed and leaves when it is to stop, or could not tell, is soon due again.
 * @returns how many notifications it has told
 */
async function tellBatch(dependencies: SweeperDependencies, stopping: AbortSignal): Promise<number> {
  const { db } = dependencies;
  const queue = await claimOpenNews(db, BATCH_SIZE);
  const told: number[] = [];
  const workOff = async () => {
    for (let news = queue.shift(); news && !stopping.aborted; news = queue.shift()) {
      if (await tell(dependencies, news)) told.push(...news.notificationIds);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, workOff));
  if (told.length > 0) await recordTold(db, told);
  return told.length;
}

/** Whether it was told. */
async function tell({ db, engine, log }: SweeperDependencies, news: OpenNews): Promise<boolean> {
  const { accountId, referenceId, paymentId } = news;
  try {
    const told = paymentId === null ? await keepUnknownOrder(db, news) : await tellNews(db, engine, paymentId);
    if (told === 'no_workflow')
      log.error({ accountId, referenceId }, 'a payment has lost its workflow: run `lunas recover`');
    return true;
  } catch (error) {
    log.warn({ err: error, accountId, referenceId }, 'news of a payment could not be told; it will be told again');
    return false;
  }
}

/** Genuine, and about an order that is none of ours: somebody else uses the account, or our record is lost. */
async function keepUnknownOrder(db: Queryable, { accountId, referenceId }: OpenNews): Promise<void> {
  const order = { providerAccountId: accountId, referenceId };
  const heard = await newestNotification(db, order);
  await openException(db, {
    kind: 'unknown_order',
    ...order,
    paymentId: null,
    amountRupiah: null,
    detail: 'The provider notified us of an order that is not in our books.',
  });
  // The case stands for all that was reported of the order.
  await closeNotifications(db, order, heard, COVERED_BY.refunded);
}
