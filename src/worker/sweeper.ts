import { setTimeout as sleep } from 'node:timers/promises';
import { openException } from '../db/records/open-exception';
import {
  claimDueNotifications,
  closeNotifications,
  newestNotification,
  recordNotified,
  releaseNotifications,
  type OpenNotification,
} from '../db/records/notification-inbox';
import { COVERED_BY } from '../domain/provider-status';
import { findArchivedPayment } from '../db/records/archive';
import type { Queryable } from '../db/connection/pool';
import type { Logger } from '../observability/logger';
import { forEachConcurrent } from '../lib/for-each-concurrent';
import { paymentIds } from '../temporal/log-payment';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import { notifyWorkflow } from '../temporal/notify-workflow';

const SWEEP_INTERVAL_MS = 2_000;
const BATCH_SIZE = 50;
/**
 * A signal costs Temporal about a tenth of a payment: with a long backlog, the interval between sweeps is for payments.
 */
const MAX_BATCHES = 10;
const CONCURRENCY = 10;

interface SweeperDependencies {
  readonly db: Queryable;
  readonly workflows: PaymentWorkflowClient;
  readonly log: Logger;
}

/**
 * Repeats signals for open rows of the notification inbox: the signal was lost, the process ended before it sent one,
 * or the order is unknown. Several workers share the rows.
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
        dependencies.log.warn({ err: error }, 'sweep failed');
      });
      await sleep(SWEEP_INTERVAL_MS, undefined, stopping).catch(() => undefined);
    }
  }
}

/** Processes batches while they are full and Temporal accepts the signals. */
async function sweep(dependencies: SweeperDependencies, stopping: AbortSignal): Promise<void> {
  for (let batch = 1; batch <= MAX_BATCHES; batch += 1) {
    if ((await notifyBatch(dependencies, stopping)) < BATCH_SIZE) return;
  }
}

/**
 * After an error the notifications are due again at the next sweep: an outage may have ended. After a stop, those that
 * were not handled are due when their lease ends.
 * @returns the number of handled notifications
 */
async function notifyBatch(dependencies: SweeperDependencies, stopping: AbortSignal): Promise<number> {
  const { db } = dependencies;
  const notified: number[] = [];
  const failed: number[] = [];
  await forEachConcurrent(await claimDueNotifications(db, BATCH_SIZE), CONCURRENCY, async (notification) => {
    if (stopping.aborted) return;
    const isNotified = await notify(dependencies, notification);
    (isNotified ? notified : failed).push(...notification.notificationIds);
  });
  if (notified.length > 0) await recordNotified(db, notified);
  if (failed.length > 0) await releaseNotifications(db, failed);
  return notified.length;
}

/** Whether the notification was handled. */
async function notify({ db, workflows, log }: SweeperDependencies, notification: OpenNotification): Promise<boolean> {
  const { accountId, referenceId, paymentId } = notification;
  const ids = { accountId, referenceId, ...(paymentId !== null && paymentIds(paymentId)) };
  try {
    const notified =
      paymentId === null
        ? await openUnknownOrderException(db, notification)
        : await notifyWorkflow(db, workflows, paymentId);
    if (notified === 'no_workflow') log.error(ids, 'workflow missing; run `lunas recover`');
    return true;
  } catch (error) {
    log.warn({ err: error, ...ids }, 'provider notification not handled; will retry');
    return false;
  }
}

/**
 * A verified notification of an order that Lunas does not have: the account has another user, or our record is lost.
 */
async function openUnknownOrderException(db: Queryable, { accountId, referenceId }: OpenNotification): Promise<void> {
  const order = { providerAccountId: accountId, referenceId };
  const latestNotificationId = await newestNotification(db, order);
  const archived = await findArchivedPayment(db, { referenceId });
  const where = archived ? `in the archive since ${archived.archivedAt.toISOString()}` : 'not in PostgreSQL';
  await openException(db, {
    kind: 'unknown_order',
    ...order,
    detail: `The provider sent a notification of an order that is ${where}.`,
  });
  // The exception covers all notifications of the order.
  await closeNotifications(db, order, latestNotificationId, COVERED_BY.refunded);
}
