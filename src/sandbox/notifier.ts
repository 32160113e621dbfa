import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { messageOf } from '../errors';
import type { Logger } from '../observability/logger';
import { SLOW_MS, type FaultKind, type Faults } from './faults';
import type { AttemptResult, DueNotification, NotificationQueue } from './notification-queue';

/** Midtrans retries after 2, 10, 30, 90 and 210 minutes. The sandbox retries after seconds, then every minute. */
export const NOTIFICATION_DELAYS_MS: readonly number[] = [1, 2, 5, 15, ...Array.from({ length: 20 }, () => 60)].map(
  (seconds) => seconds * 1000,
);

/** Midtrans has the same timeout. */
const PHASE_TIMEOUT_MS = 15_000;
/** Longer than an attempt: connecting, headers, body, and the fault `slow`. */
const LEASE_MS = 3 * PHASE_TIMEOUT_MS + SLOW_MS;
const POLL_INTERVAL_MS = 500;
const MAX_IN_FLIGHT = 32;
/** When the sandbox stops, longer attempts are aborted. They are due again by their schedule. */
const CLOSE_GRACE_MS = 2000;

export interface NotifierOptions {
  readonly queue: NotificationQueue;
  readonly faults: Faults;
  readonly log: Logger;
  readonly delaysMs: readonly number[];
}

/** Sends due notifications until the receiver responds with 2xx or the schedule ends. Also sweeps the ledger. */
export class Notifier {
  readonly #agent = new Agent({
    connections: MAX_IN_FLIGHT,
    connectTimeout: PHASE_TIMEOUT_MS,
    headersTimeout: PHASE_TIMEOUT_MS,
    bodyTimeout: PHASE_TIMEOUT_MS,
  });
  readonly #aborter = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #running: Promise<void>;
  #isClosing = false;
  #isWoken = false;
  #rest = new AbortController();
  #nextSweepAtMs = 0;

  constructor(private readonly options: NotifierOptions) {
    setMaxListeners(0, this.#aborter.signal);
    this.#running = this.#run();
  }

  /** Looks for due notifications now instead of at the next poll. */
  wake(): void {
    this.#isWoken = true;
    this.#rest.abort();
  }

  /** Completes the attempts in flight, then stops. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.wake();
    const grace = setTimeout(() => this.#aborter.abort(), CLOSE_GRACE_MS);
    await this.#running;
    await Promise.all(this.#inFlight);
    clearTimeout(grace);
    await this.#agent.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      this.#rest = new AbortController();
      this.#isWoken = false;
      const isIdle = await this.#sendDue().catch((error: unknown) => {
        this.options.log.error({ reason: String(error) }, 'sandbox ledger unavailable; retrying');
        return true;
      });
      if (isIdle && !this.#isWoken) {
        await sleep(POLL_INTERVAL_MS, undefined, { signal: this.#rest.signal }).catch(() => undefined);
      }
    }
  }

  /** @returns whether no notification was due */
  async #sendDue(): Promise<boolean> {
    const { queue } = this.options;
    if (Date.now() >= this.#nextSweepAtMs) {
      await queue.sweep();
      this.#nextSweepAtMs = Date.now() + POLL_INTERVAL_MS;
    }
    const due = await queue.claim({ limit: MAX_IN_FLIGHT - this.#inFlight.size, leaseMs: LEASE_MS });
    for (const notification of due) this.#start(notification);
    if (this.#inFlight.size >= MAX_IN_FLIGHT) await Promise.race(this.#inFlight);
    return due.length === 0;
  }

  #start(notification: DueNotification): void {
    const delivery = this.#deliver(notification)
      .catch((error: unknown) =>
        this.options.log.error(
          { reason: String(error), reference: notification.reference },
          'notification not recorded',
        ),
      )
      .finally(() => this.#inFlight.delete(delivery));
    this.#inFlight.add(delivery);
  }

  async #deliver(notification: DueNotification): Promise<void> {
    const result = await this.#attempt(notification);
    await this.options.queue.record(notification, result);
    if (result.outcome === 'postponed') setTimeout(() => this.wake(), result.delayMs).unref();
  }

  async #attempt(notification: DueNotification): Promise<AttemptResult> {
    const { queue, faults, log, delaysMs } = this.options;
    const fault = faults.take(queue.operation);
    if (fault === 'silent' || fault === 'reject') return { outcome: 'dropped', response: `fault ${fault}` };
    const { isSuccess, response } = await this.#send(notification, fault);
    const isLost = fault === 'accept_then_timeout' || fault === 'accept_then_reset';
    if (isSuccess && !isLost) return { outcome: 'delivered', response };
    log.warn({ reference: notification.reference, url: notification.url, reason: response }, 'notification failed');
    const delayMs = delaysMs[notification.attempts];
    return delayMs === undefined ? { outcome: 'abandoned', response } : { outcome: 'postponed', response, delayMs };
  }

  /** One attempt, with its fault. Only a 2xx is a success. */
  async #send(notification: DueNotification, fault: FaultKind | undefined) {
    if (fault === 'timeout' || fault === 'reset' || fault === 'http_500')
      return { isSuccess: false, response: `fault ${fault}` };
    const { signal } = this.#aborter;
    if (fault === 'slow') await sleep(SLOW_MS, undefined, { signal }).catch(() => undefined);
    const isForged = fault === 'bad_signature';
    const { url, headers, body } = isForged ? this.options.queue.forge(notification) : notification;
    try {
      const { statusCode, body: responseBody } = await request(url, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Veritrans', ...headers },
        body: fault === 'half_body' ? body.slice(0, body.length / 2) : body,
        signal,
      });
      await responseBody.dump();
      return { isSuccess: statusCode >= 200 && statusCode < 300, response: `HTTP ${statusCode}` };
    } catch (error) {
      return { isSuccess: false, response: messageOf(error) };
    }
  }
}
