import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { Agent, request } from 'undici';
import type { Logger } from '../log';
import { notificationBody } from './answers';
import { SLOW_MS, type FaultKind, type Faults } from './faults';
import type { Ledger } from './ledger';
import type { PaymentWithRefunds } from './ledger-records';

/** Midtrans tries again after 2, 10, 30, 90 and 210 minutes; seconds make a better sandbox. Then every minute for a while. */
export const NOTIFICATION_DELAYS_MS: readonly number[] = [1, 2, 5, 15, ...Array.from({ length: 20 }, () => 60)].map(
  (seconds) => seconds * 1000,
);

/** Midtrans waits 15 s for an answer. */
const PHASE_TIMEOUT_MS = 15_000;
/** A claimed notification that a crash left behind is due again after this. */
const LEASE_MS = 3 * PHASE_TIMEOUT_MS + SLOW_MS;
const POLL_MS = 500;
const SENT_AT_ONCE = 32;
/** An attempt that takes longer is cut off when the sandbox stops, and due again by its schedule. */
const CLOSE_GRACE_MS = 2000;

interface DueNotification {
  readonly id: string;
  readonly orderId: string;
  readonly url: string;
  readonly body: string;
  readonly attempts: number;
}

/** Writes `times` equal notifications of a change; part of the change's transaction, so that neither exists without the other. */
export async function enqueueNotifications(
  client: PoolClient,
  changed: PaymentWithRefunds,
  { times, fallbackUrl }: { times: number; fallbackUrl: string | null },
): Promise<void> {
  const url = changed.payment.notificationUrl ?? fallbackUrl;
  if (url === null || times === 0) return;
  await client.query({
    name: 'enqueue',
    text: `INSERT INTO notifications (order_id, url, body) SELECT $1, $2, $3 FROM generate_series(1, $4::integer)`,
    values: [changed.payment.orderId, url, notificationBody(changed), times],
  });
}

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
    connections: SENT_AT_ONCE,
    connectTimeout: PHASE_TIMEOUT_MS,
    headersTimeout: PHASE_TIMEOUT_MS,
    bodyTimeout: PHASE_TIMEOUT_MS,
  });
  const closing = new AbortController();
  const cuttingOff = new AbortController();
  setMaxListeners(0, cuttingOff.signal);
  const underWay = new Set<Promise<void>>();
  let wakeUp: (() => void) | undefined;
  let isWoken = false;

  async function run(): Promise<void> {
    let nextSweepAt = 0;
    while (!closing.signal.aborted) {
      isWoken = false;
      if (Date.now() >= nextSweepAt) {
        await ledger.sweep();
        nextSweepAt = Date.now() + POLL_MS;
      }
      const due = await claim(pool, SENT_AT_ONCE - underWay.size);
      for (const notification of due) start(notification);
      if (underWay.size >= SENT_AT_ONCE) await Promise.race(underWay);
      else if (due.length === 0 && !isWoken) await rest();
    }
  }

  function start(notification: DueNotification): void {
    const delivery = deliver(notification)
      .catch((error: unknown) => log.error({ err: error, order_id: notification.orderId }, 'notification not recorded'))
      .finally(() => underWay.delete(delivery));
    underWay.add(delivery);
  }

  async function deliver(notification: DueNotification): Promise<void> {
    const fault = faults.take('notify');
    if (fault === 'silent' || fault === 'reject') return finish(pool, notification, 'dropped');
    const answer = await attempt(agent, notification, fault, cuttingOff.signal);
    const delayMs = delaysMs[notification.attempts];
    const isLost = fault === 'accept_then_timeout' || fault === 'accept_then_reset';
    if (answer.isSuccess && !isLost) return finish(pool, notification, 'delivered');
    log.warn({ order_id: notification.orderId, url: notification.url, reason: answer.text }, 'notification failed');
    if (delayMs === undefined) return finish(pool, notification, 'given up');
    await postpone(pool, notification, delayMs);
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

  async function runForEver(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await run();
      } catch (error) {
        if (closing.signal.aborted) return;
        log.error({ err: error }, 'the ledger cannot be read, trying again');
        await rest();
      }
    }
  }

  const running = runForEver();
  return {
    wake,
    async close() {
      closing.abort();
      wake();
      const grace = setTimeout(() => cuttingOff.abort(), CLOSE_GRACE_MS);
      await running;
      await Promise.all(underWay);
      clearTimeout(grace);
      await agent.close();
    },
  };
}

async function attempt(agent: Agent, notification: DueNotification, fault: FaultKind | undefined, cutOff: AbortSignal) {
  if (fault === 'timeout' || fault === 'reset' || fault === 'http_500')
    return { isSuccess: false, text: `fault ${fault}` };
  if (fault === 'slow') await sleep(SLOW_MS, undefined, { signal: cutOff }).catch(() => undefined);
  try {
    const response = await request(notification.url, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Veritrans' },
      body: spoil(notification.body, fault),
      signal: cutOff,
    });
    await response.body.dump();
    return { isSuccess: response.statusCode >= 200 && response.statusCode < 300, text: `HTTP ${response.statusCode}` };
  } catch (error) {
    return { isSuccess: false, text: error instanceof Error ? error.message : String(error) };
  }
}

function spoil(body: string, fault: FaultKind | undefined): string {
  if (fault === 'half_body') return body.slice(0, body.length / 2);
  if (fault === 'bad_signature') return body.replace(/("signature_key":")([0-9a-f]+)/, `$1${'0'.repeat(128)}`);
  return body;
}

/** Takes due notifications for the length of a lease; a second sandbox on the same ledger would not get them. */
async function claim(pool: Pool, limit: number): Promise<DueNotification[]> {
  const claimed = await pool.query<DueNotification>({
    name: 'claim',
    text: `
      UPDATE notifications SET attempts = attempts + 1, due_at = now() + $2 * interval '1 ms'
      WHERE id IN (SELECT id FROM notifications WHERE due_at <= now() ORDER BY due_at, id LIMIT $1 FOR UPDATE SKIP LOCKED)
      RETURNING id, order_id AS "orderId", url, body, attempts - 1 AS attempts`,
    values: [limit, LEASE_MS],
  });
  return claimed.rows;
}

async function finish(
  pool: Pool,
  { id }: DueNotification,
  outcome: 'delivered' | 'dropped' | 'given up',
): Promise<void> {
  await pool.query(`UPDATE notifications SET due_at = NULL, outcome = $2 WHERE id = $1`, [id, outcome]);
}

async function postpone(pool: Pool, { id }: DueNotification, delayMs: number): Promise<void> {
  await pool.query(`UPDATE notifications SET due_at = now() + $2 * interval '1 ms' WHERE id = $1`, [id, delayMs]);
}

/** A notification as the page shows it. `dueAt` is null once it was delivered or given up. */
export interface NotificationSummary {
  readonly orderId: string;
  readonly url: string;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly dueAt: Date | null;
  readonly outcome: string | null;
}

/** Newest first. */
export async function listNotifications(pool: Pool, limit: number): Promise<NotificationSummary[]> {
  const result = await pool.query<NotificationSummary>(
    `SELECT order_id AS "orderId", url, attempts, created_at AS "createdAt", due_at AS "dueAt", outcome
     FROM notifications ORDER BY id DESC LIMIT $1`,
    [limit],
  );
  return result.rows;
}
