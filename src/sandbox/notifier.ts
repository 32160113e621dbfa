import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { Agent } from 'undici';
import type { Logger } from '../logger';
import { SLOW_MS, type Faults } from './faults';
import type { Ledger } from './ledger';
import { claimNotifications, recordAttempt, type DueNotification } from './notification-queue';
import { sendNotification } from './send-notification';

/** Midtrans tries again after 2, 10, 30, 90 and 210 minutes; seconds make a better sandbox. Then every minute for a while. */
export const NOTIFICATION_DELAYS_MS: readonly number[] = [1, 2, 5, 15, ...Array.from({ length: 20 }, () => 60)].map(
  (seconds) => seconds * 1000,
);

/** Midtrans waits 15 s for an answer. */
const PHASE_TIMEOUT_MS = 15_000;
/** A claimed notification that a crash left behind is due again after this. */
const LEASE_MS = 3 * PHASE_TIMEOUT_MS + SLOW_MS;
const POLL_MS = 500;
const MAX_IN_FLIGHT = 32;
/** An attempt that takes longer is cut off when the sandbox stops, and due again by its schedule. */
const CLOSE_GRACE_MS = 2000;

export interface Notifier {
  /** Looks for due notifications now instead of at the next poll. */
  wake(): void;
  /** Lets attempts under way come to their end, then stops. */
  close(): Promise<void>;
}

export interface NotifierOptions {
  readonly pool: Pool;
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly log: Logger;
  readonly delaysMs: readonly number[];
}

/** Sends what the ledger says is due, until the merchant answers 2xx or the schedule is used up; also sweeps the ledger. */
export function startNotifier({ pool, ledger, faults, log, delaysMs }: NotifierOptions): Notifier {
  const agent = new Agent({
    connections: MAX_IN_FLIGHT,
    connectTimeout: PHASE_TIMEOUT_MS,
    headersTimeout: PHASE_TIMEOUT_MS,
    bodyTimeout: PHASE_TIMEOUT_MS,
  });
  const closing = new AbortController();
  const cuttingOff = new AbortController();
  setMaxListeners(0, cuttingOff.signal);
  const inFlight = new Set<Promise<void>>();
  let wakeUp: (() => void) | undefined;
  let isWoken = false;
  let nextSweepAt = 0;

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const isIdle = await sendDue();
        if (isIdle && !isWoken) await rest();
      } catch (error) {
        log.error({ reason: String(error) }, 'sandbox ledger unavailable; retrying');
        await rest();
      }
    }
  }

  /** Starts what is due, as far as there is room. Answers whether nothing was. */
  async function sendDue(): Promise<boolean> {
    isWoken = false;
    if (Date.now() >= nextSweepAt) {
      await ledger.sweep();
      nextSweepAt = Date.now() + POLL_MS;
    }
    const room = MAX_IN_FLIGHT - inFlight.size;
    const due = await claimNotifications(pool, { limit: room, leaseMs: LEASE_MS });
    for (const notification of due) start(notification);
    if (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
    return due.length === 0;
  }

  function start(notification: DueNotification): void {
    const delivery = deliver(notification)
      .catch((error: unknown) =>
        log.error({ reason: String(error), order_id: notification.orderId }, 'notification not recorded'),
      )
      .finally(() => inFlight.delete(delivery));
    inFlight.add(delivery);
  }

  async function deliver(notification: DueNotification): Promise<void> {
    const fault = faults.take('notify');
    if (fault === 'silent' || fault === 'reject') {
      return recordAttempt(pool, notification, { outcome: 'dropped', response: `fault ${fault}` });
    }
    const result = await sendNotification(notification, { dispatcher: agent, fault, signal: cuttingOff.signal });
    const delayMs = delaysMs[notification.attempts];
    const isLost = fault === 'accept_then_timeout' || fault === 'accept_then_reset';
    if (result.isSuccess && !isLost) {
      return recordAttempt(pool, notification, { outcome: 'delivered', response: result.text });
    }
    log.warn({ order_id: notification.orderId, url: notification.url, reason: result.text }, 'notification failed');
    if (delayMs === undefined) {
      return recordAttempt(pool, notification, { outcome: 'abandoned', response: result.text });
    }
    await recordAttempt(pool, notification, { outcome: 'postponed', response: result.text, delayMs });
    setTimeout(wake, delayMs).unref();
  }

  /** Until the next poll, or until something was enqueued. */
  async function rest(): Promise<void> {
    const timer = new AbortController();
    await new Promise<void>((resolve) => {
      wakeUp = resolve;
      sleep(POLL_MS, undefined, { signal: timer.signal }).then(resolve, resolve);
    });
    wakeUp = undefined;
    timer.abort();
  }

  function wake(): void {
    isWoken = true;
    wakeUp?.();
  }

  const running = run();
  return {
    wake,
    async close() {
      closing.abort();
      wake();
      const grace = setTimeout(() => cuttingOff.abort(), CLOSE_GRACE_MS);
      await running;
      await Promise.all(inFlight);
      clearTimeout(grace);
      await agent.close();
    },
  };
}
