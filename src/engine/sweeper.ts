import { setTimeout as sleep } from 'node:timers/promises';
import { openException } from '../db/exceptions';
import { claimOpenNews, closeNotifications, newestNotification, type OpenNews } from '../db/notifications';
import type { Queryable } from '../db/pool';
import type { Logger } from '../log';
import type { PaymentsEngine } from './payments-engine';
import { tellNews } from './tell-news';

const SWEEP_EVERY_MS = 2_000;
/** A word to Temporal costs it as much as a tenth of a payment: where much has piled up, payments come first. */
const MOST_AT_ONCE = 50;
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

/** What it has claimed and leaves when it is to stop is told again when it is due the next time. */
async function sweep(dependencies: SweeperDependencies, stopping: AbortSignal): Promise<void> {
  const queue = await claimOpenNews(dependencies.db, MOST_AT_ONCE);
  const workOff = async () => {
    for (let news = queue.shift(); news && !stopping.aborted; news = queue.shift()) await tell(dependencies, news);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, workOff));
}

async function tell({ db, engine, log }: SweeperDependencies, news: OpenNews): Promise<void> {
  const { accountId, referenceId, paymentId } = news;
  try {
    if (paymentId === null) return await keepUnknownOrder(db, news);
    const told = await tellNews(db, engine, paymentId);
    if (told === 'no_workflow')
      log.error({ accountId, referenceId }, 'a payment has lost its workflow: run `lunas recover`');
  } catch (error) {
    log.warn({ err: error, accountId, referenceId }, 'news of a payment could not be told; it will be told again');
  }
}

/** Genuine, and about an order that is none of ours: somebody else uses the account, or our record is lost. */
async function keepUnknownOrder(db: Queryable, { accountId, referenceId }: OpenNews): Promise<void> {
  const heard = await newestNotification(db, referenceId);
  await openException(db, {
    kind: 'unknown_order',
    referenceId,
    providerAccountId: accountId,
    paymentId: null,
    amountRupiah: null,
    detail: 'The provider notified us of an order that is not in our books.',
  });
  await closeNotifications(db, referenceId, heard);
}
