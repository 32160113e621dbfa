import type { Pool, PoolClient } from 'pg';
import type { NotificationOperation } from './faults';
import type { OrderWithRefunds } from './ledger-records';
import { notificationBody } from './responses';

export interface DueNotification {
  readonly id: string;
  /** The reference of the order, or of the transfer. */
  readonly reference: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly attempts: number;
}

export interface NotificationClaim {
  readonly limit: number;
  readonly leaseMs: number;
}

/** Notifications that wait to be sent: those of orders, or those of transfers. */
export interface NotificationQueue {
  /** Names the faults of these notifications. */
  readonly operation: NotificationOperation;
  /** Applies what time causes. It may enqueue notifications. */
  sweep(): Promise<void>;
  claim(limits: NotificationClaim): Promise<DueNotification[]>;
  record(notification: DueNotification, result: AttemptResult): Promise<void>;
  /** The notification with a wrong signature. */
  forge(notification: DueNotification): DueNotification;
}

/** The notifications of orders. Midtrans signs them in the body. */
export function orderNotifications(pool: Pool, sweep: () => Promise<void>): NotificationQueue {
  return {
    operation: 'notify',
    sweep,
    claim: (limits) => claimNotifications(pool, limits),
    record: (notification, result) => recordAttempt(pool, notification, result),
    forge: (notification) => ({
      ...notification,
      body: notification.body.replace(/("signature_key":")([0-9a-f]+)/, `$1${'0'.repeat(128)}`),
    }),
  };
}

/** Enqueues `times` equal notifications, in the transaction of the change that they report. */
export async function enqueueNotifications(
  client: PoolClient,
  changed: OrderWithRefunds,
  times: number,
): Promise<void> {
  const { orderId, notificationUrl } = changed.order;
  if (notificationUrl === null || times === 0) return;
  await client.query({
    name: 'enqueue',
    text: `insert into notifications (order_id, url, body) select $1, $2, $3 from generate_series(1, $4::integer)`,
    values: [orderId, notificationUrl, notificationBody(changed), times],
  });
}

/** Claims due notifications. After the lease they are due again, in case the process was killed. */
async function claimNotifications(pool: Pool, { limit, leaseMs }: NotificationClaim): Promise<DueNotification[]> {
  const claimed = await pool.query<DueNotification>({
    name: 'claim',
    text: `
      update notifications set attempts = attempts + 1, due_at = now() + $2 * interval '1 ms'
      where id in (
        select id from notifications where due_at <= now() order by due_at, id limit $1 for update skip locked)
      returning id, order_id as reference, url, '{}'::json as headers, body, attempts - 1 as attempts`,
    values: [limit, leaseMs],
  });
  return claimed.rows;
}

/** The result of an attempt. `response` is `HTTP 200`, for example, or the error. */
export type AttemptResult =
  | { readonly outcome: 'delivered' | 'dropped' | 'abandoned'; readonly response: string }
  | { readonly outcome: 'postponed'; readonly response: string; readonly delayMs: number };

async function recordAttempt(pool: Pool, { id }: DueNotification, result: AttemptResult): Promise<void> {
  const isFinal = result.outcome !== 'postponed';
  await pool.query({
    name: 'record',
    text: `
      update notifications set outcome = $2, last_response = $3, due_at = now() + $4 * interval '1 ms' where id = $1`,
    values: [id, isFinal ? result.outcome : null, result.response, isFinal ? null : result.delayMs],
  });
}

/** A row of the page. `dueAt` is null if the notification was delivered or abandoned. */
export interface NotificationSummary {
  readonly orderId: string;
  /** The `transaction_status` in its body. */
  readonly transactionStatus: string;
  readonly url: string;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly dueAt: Date | null;
  readonly outcome: string | null;
  /** The response to the latest completed attempt; null before the first one. */
  readonly lastResponse: string | null;
}

/** The notifications of orders whose id contains the text, newest first. */
export async function listNotifications(pool: Pool, limit: number, text: string): Promise<NotificationSummary[]> {
  const result = await pool.query<NotificationSummary>(
    `select order_id as "orderId", body::json ->> 'transaction_status' as "transactionStatus", url, attempts,
       created_at as "createdAt", due_at as "dueAt", outcome, last_response as "lastResponse"
     from notifications where position(upper($2) in upper(order_id)) > 0 order by id desc limit $1`,
    [limit, text],
  );
  return result.rows;
}
