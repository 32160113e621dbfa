import type { Pool, PoolClient } from 'pg';
import { notificationBody } from './answers';
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

/** No further attempt. */
export async function finishNotification(
  pool: Pool,
  { id }: DueNotification,
  outcome: 'delivered' | 'dropped' | 'given up',
): Promise<void> {
  await pool.query(`UPDATE notifications SET due_at = NULL, outcome = $2 WHERE id = $1`, [id, outcome]);
}

export async function postponeNotification(pool: Pool, { id }: DueNotification, delayMs: number): Promise<void> {
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
