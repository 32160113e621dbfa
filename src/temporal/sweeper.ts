import { setTimeout as sleep } from 'node:timers/promises';
import { openException } from '../db/exceptions';
import {
  claimDueNotifications,
  closeNotifications,
  newestNotification,
  recordNotified,
  type OpenNotification,
} from '../db/notification-inbox';
import { COVERED_BY } from '../domain/provider-status';
import type { Queryable } from '../db/pool';
import type { Logger } from '../logger';
import { forEachConcurrent } from './for-each-concurrent';
import type { PaymentWorkflowClient } from './payment-workflow-client';
import { notifyWorkflow } from './notify-workflow';

const SWEEP_INTERVAL_MS = 2_000;
const BATCH_SIZE = 50;
/** A word to Temporal costs it as much as a tenth of a payment: where much has piled up, payments get the pause of each sweep. */
const MAX_BATCHES = 10;
const CONCURRENCY = 10;

interface SweeperDependencies {
  readonly db: Queryable;
  readonly workflows: PaymentWorkflowClient;
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
      await sleep(SWEEP_INTERVAL_MS, undefined, stopping).catch(() => undefined);
    }
  }
}

/** As long as much is due, and Temporal takes it. */
async function sweep(dependencies: SweeperDependencies, stopping: AbortSignal): Promise<void> {
  for (let batch = 1; batch <= MAX_BATCHES; batch += 1) {
    if ((await notifyBatch(dependencies, stopping)) < BATCH_SIZE) return;
  }
}

/**
 * What it has claimed and leaves when it is to stop, or could not tell, is soon due again.
 * @returns how many notifications it has told
 */
async function notifyBatch(dependencies: SweeperDependencies, stopping: AbortSignal): Promise<number> {
  const { db } = dependencies;
  const notified: number[] = [];
  await forEachConcurrent(await claimDueNotifications(db, BATCH_SIZE), CONCURRENCY, async (notification) => {
    if (stopping.aborted) return;
    if (await notify(dependencies, notification)) notified.push(...notification.notificationIds);
  });
  if (notified.length > 0) await recordNotified(db, notified);
  return notified.length;
}

/** Whether it was told. */
async function notify({ db, workflows, log }: SweeperDependencies, notification: OpenNotification): Promise<boolean> {
  const { accountId, referenceId, paymentId } = notification;
  try {
    const notified =
      paymentId === null
        ? await openUnknownOrderException(db, notification)
        : await notifyWorkflow(db, workflows, paymentId);
    if (notified === 'no_workflow')
      log.error({ accountId, referenceId }, 'a payment has lost its workflow: run `lunas recover`');
    return true;
  } catch (error) {
    log.warn({ err: error, accountId, referenceId }, 'news of a payment could not be told; it will be told again');
    return false;
  }
}

/** Genuine, and about an order that is none of ours: somebody else uses the account, or our record is lost. */
async function openUnknownOrderException(db: Queryable, { accountId, referenceId }: OpenNotification): Promise<void> {
  const order = { providerAccountId: accountId, referenceId };
  const latestNotificationId = await newestNotification(db, order);
  await openException(db, {
    kind: 'unknown_order',
    ...order,
    paymentId: null,
    amountRupiah: null,
    detail: 'The provider notified us of an order that is not in our books.',
  });
  // The case stands for all that was reported of the order.
  await closeNotifications(db, order, latestNotificationId, COVERED_BY.refunded);
}
