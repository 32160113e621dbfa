import type { Pool, PoolClient } from 'pg';
import { notificationBody } from './responses';
import type { PaymentWithRefunds } from './ledger-records';

export interface DueNotification {
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

/** Takes due notifications for the length of a lease: should the process die, they are due again after it. */
export async function claimNotifications(
  pool: Pool,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<DueNotification[]> {
  const claimed = await pool.query<DueNotification>({
    name: 'claim',
    text: `
      UPDATE notifications SET attempts = attempts + 1, due_at = now() + $2 * interval '1 ms'
      WHERE id IN (SELECT id FROM notifications WHERE due_at <= now() ORDER BY due_at, id LIMIT $1 FOR UPDATE SKIP LOCKED)
      RETURNING id, order_id AS "orderId", url, body, attempts - 1 AS attempts`,
    values: [limit, leaseMs],
  });
  return claimed.rows;
}

/** What came of the latest attempt, in words: `HTTP 200`, or why there was no answer. */
export type AttemptResult =
  | { readonly outcome: 'delivered' | 'dropped' | 'abandoned'; readonly response: string }
  | { readonly outcome: 'postponed'; readonly response: string; readonly delayMs: number };

/** Postponed: there will be a further attempt; else there will be none. */
export async function recordAttempt(pool: Pool, { id }: DueNotification, result: AttemptResult): Promise<void> {
  const isOver = result.outcome !== 'postponed';
  await pool.query(
    `UPDATE notifications SET outcome = $2, last_response = $3, due_at = now() + $4 * interval '1 ms' WHERE id = $1`,
    [id, isOver ? result.outcome : null, result.response, isOver ? null : result.delayMs],
  );
}

/** A notification as the page shows it. `dueAt` is null once it was delivered or abandoned. */
export interface NotificationSummary {
  readonly orderId: string;
  /** The `transaction_status` that it tells. */
  readonly transactionStatus: string;
  readonly url: string;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly dueAt: Date | null;
  readonly outcome: string | null;
  /** Of the latest attempt that came to an end; null before the first. */
  readonly lastResponse: string | null;
}

/** Newest first. */
export async function listNotifications(pool: Pool, limit: number): Promise<NotificationSummary[]> {
  const result = await pool.query<NotificationSummary>(
    `SELECT order_id AS "orderId", body::json ->> 'transaction_status' AS "transactionStatus", url, attempts,
       created_at AS "createdAt", due_at AS "dueAt", outcome, last_response AS "lastResponse"
     FROM notifications ORDER BY id DESC LIMIT $1`,
    [limit],
  );
  return result.rows;
}
