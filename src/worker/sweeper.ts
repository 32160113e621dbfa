import type { Queryable } from '../db/connection/pool';
import {
  claimDueNotifications,
  recordNotified,
  releaseNotifications,
  type OpenNotification,
} from '../db/payments/notification-inbox';
import { listWaitingInquiries } from '../db/payouts/bank-accounts';
import { claimReleasedPayouts, returnReleasedPayout } from '../db/payouts/find-payout';
import { forEachConcurrent } from '../lib/for-each-concurrent';
import type { Logger } from '../observability/logger';
import type { ProviderRegistry } from '../providers/registry';
import { restartIfLost } from '../services/recovery/restart-payment';
import { paymentIds } from '../temporal/log-payment';
import { notifyWorkflow } from '../temporal/notify-workflow';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import { repeat, type Repetition } from './repeat';
import { handleUnknownOrder } from './unknown-order';

const SWEEP_INTERVAL_MS = 2_000;
const BATCH_SIZE = 50;
/**
 * A signal costs Temporal about a tenth of a payment: with a long backlog, the interval between sweeps is for payments.
 */
const MAX_BATCHES = 10;
const CONCURRENCY = 10;
/** Between two looks for name inquiries without a workflow, and for deferred payouts that can be sent. */
const RELEASE_INTERVAL_MS = 30_000;

interface SweeperDependencies {
  readonly db: Queryable;
  readonly providers: ProviderRegistry;
  readonly workflows: PaymentWorkflowClient;
  readonly log: Logger;
}

/**
 * Repeats signals for open rows of the notification inbox: the signal was lost, the process ended before it sent one,
 * or the order is unknown. Several workers share the rows. It also starts the name inquiries of bank accounts that were
 * added while Temporal was away, and wakes payouts that nothing defers any more.
 */
export function startSweeper(dependencies: SweeperDependencies): Repetition {
  const { log } = dependencies;
  let releasedAtMs = 0;
  return repeat(SWEEP_INTERVAL_MS, async (stopping) => {
    if (Date.now() - releasedAtMs >= RELEASE_INTERVAL_MS) {
      releasedAtMs = Date.now();
      await Promise.all([startInquiries(dependencies), releasePayouts(dependencies)]).catch((error: unknown) => {
        log.warn({ err: error }, 'name inquiries and deferred payouts not read; will retry');
      });
    }
    await sweep(dependencies, stopping).catch((error: unknown) => {
      log.warn({ err: error }, 'sweep failed');
    });
  });
}

/** An inquiry that runs is joined, so a repeat changes nothing. */
async function startInquiries({ db, workflows, log }: SweeperDependencies): Promise<void> {
  await forEachConcurrent(await listWaitingInquiries(db), CONCURRENCY, async (inquiry) => {
    await workflows.bankAccounts.start(inquiry).catch((error: unknown) => {
      log.warn({ err: error, ...inquiry }, 'name inquiry not started; will retry');
    });
  });
}

/**
 * Whatever ends a deferral, its payout goes on within 30 s: the release of a merchant, the start of payouts, a change
 * of a bank account. A workflow that has gone on meanwhile only looks at the bank once more.
 */
async function releasePayouts({ db, workflows, log }: SweeperDependencies): Promise<void> {
  await forEachConcurrent(await claimReleasedPayouts(db, new Date()), CONCURRENCY, async (payout) => {
    try {
      await workflows.payouts.notify(payout);
    } catch (error) {
      log.warn({ err: error, ...payout }, 'deferred payout not woken; will retry');
      await returnReleasedPayout(db, payout.payoutId);
    }
  });
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
async function notify(dependencies: SweeperDependencies, notification: OpenNotification): Promise<boolean> {
  const { db, providers, workflows, log } = dependencies;
  const { accountId, referenceId, paymentId, payout } = notification;
  try {
    if (payout !== null) await workflows.payouts.notify(payout);
    else if (paymentId === null) {
      await handleUnknownOrder({ db, providers }, { providerAccountId: accountId, referenceId });
    } else if ((await notifyWorkflow(db, workflows, paymentId)) === 'no_workflow')
      await restart(dependencies, paymentId);
    return true;
  } catch (error) {
    const ids = { accountId, referenceId, ...(paymentId !== null && paymentIds(paymentId)) };
    log.warn({ err: error, ...ids }, 'provider notification not handled; will retry');
    return false;
  }
}

/**
 * Temporal has lost the workflow of an open payment. A failure counts as an attempt of the notification, so that it is
 * repeated later and later: Temporal has just responded, so no outage explains it.
 */
async function restart({ db, workflows, log }: SweeperDependencies, paymentId: string): Promise<void> {
  try {
    if ((await restartIfLost({ db, workflows, log }, paymentId)) === 'started')
      await notifyWorkflow(db, workflows, paymentId);
  } catch (error) {
    log.error({ err: error, ...paymentIds(paymentId) }, 'lost workflow not started again; will retry');
  }
}
