import { createHash } from 'node:crypto';
import type { PaymentTerms } from '../domain/payment';
import { PAYMENT_STATUSES_REFLECTING, type ReportedStatus } from '../domain/provider-status';
import type { Queryable } from './pool';

/** The inbox of what providers tell us: a row is open until its effect, or that it has none, is recorded. */

/** An order as notifications name it: references are unique within a provider account only. */
export type ProviderOrder = Pick<PaymentTerms, 'providerAccountId' | 'referenceId'>;

/** The newest open notification of an order, to be closed once the provider was asked *after* it; null without one. */
export async function newestNotification(db: Queryable, order: ProviderOrder): Promise<number | null> {
  const { rows } = await db.query<{ newest: number | null }>({
    name: 'newest_notification',
    text: `select max(id) as newest from provider_notifications
      where provider_account_id = $1 and reference_id = $2 and closed_at is null`,
    values: [order.providerAccountId, order.referenceId],
  });
  return rows[0]?.newest ?? null;
}

/** A provider whose status lags behind its notifications has caught up by then. */
const MAX_STATUS_LAG = "interval '2 minutes'";

/**
 * The provider was asked, and its status is recorded: closes what was received before the question, up to `heard`. Only what the
 * status covers is done with; the rest is told again and asked again, until the provider cannot lag behind it any more.
 */
export async function closeNotifications(
  db: Queryable,
  order: ProviderOrder,
  latestNotificationId: number | null,
  covered: readonly ReportedStatus[],
): Promise<void> {
  if (latestNotificationId === null) return;
  await db.query({
    name: 'close_notifications',
    text: `update provider_notifications set closed_at = now()
      where provider_account_id = $1 and reference_id = $2 and id <= $3 and closed_at is null
        and (array_position($4::text[], reported_status) is not null or received_at < now() - ${MAX_STATUS_LAG})`,
    values: [order.providerAccountId, order.referenceId, latestNotificationId, covered],
  });
}

/** What the inbox knows after a notification came in. */
export interface InboxEntry {
  /** The payment's workflow has to hear of it now: it is no copy, not known already, and not what its own timer asks for. */
  readonly needsQuery: boolean;
  /** Null for an order that is none of ours. */
  readonly paymentId: string | null;
}

/** A notification whose sender is known. */
export interface Notification {
  readonly accountId: string;
  readonly referenceId: string;
  readonly reportedStatus: ReportedStatus;
  readonly rawBody: Buffer;
}

/** An expiry that is notified of so long before or after is one that the payment's own timer is about to find. */
const IS_NEAR_EXPIRY =
  "now() between payment.expires_at - interval '5 seconds' and payment.expires_at + interval '30 seconds'";

/**
 * Stores a genuine notification once, however often it comes: two with the same bytes are the same. One that says what we know
 * already is kept for the record only, closed from the start; one that is expected is told only if the timer has not come to
 * it after 20 s.
 */
export async function storeNotification(db: Queryable, notification: Notification): Promise<InboxEntry> {
  const { accountId, referenceId, reportedStatus, rawBody } = notification;
  const knownAt = reportedStatus === null ? [] : PAYMENT_STATUSES_REFLECTING[reportedStatus];
  const bodySha256 = createHash('sha256').update(rawBody).digest();
  const { rows } = await db.query<InboxEntry>({
    name: 'store_notification',
    text: `
      with payment as (
        select id, status, $6 = 'expired' and ${IS_NEAR_EXPIRY} as is_expected
        from payments payment where reference_id = $2 and provider_account_id = $1
      ),
      stored as (
        insert into provider_notifications
          (provider_account_id, reference_id, body_sha256, body, reported_status, closed_at, next_notify_at)
        values ($1, $2, $3, $4, $6, case when (select status from payment) = any ($5) then now() end,
          now() + case when (select is_expected from payment) then interval '20 seconds' else interval '5 seconds' end)
        on conflict (provider_account_id, body_sha256) do nothing
        returning closed_at
      )
      select
        exists (select from stored, payment where closed_at is null and is_expected is not true) as "needsQuery",
        (select id from payment) as "paymentId"`,
    values: [accountId, referenceId, bodySha256, rawBody.toString('utf8'), knownAt, reportedStatus],
  });
  return rows[0] ?? { needsQuery: false, paymentId: null };
}

/** News of an order that nobody notified us of: the sweeper tells it like any other. */
export async function requestStatusQuery(
  db: Queryable,
  { accountId, referenceId }: Pick<Notification, 'accountId' | 'referenceId'>,
): Promise<void> {
  const rawBody = Buffer.from(JSON.stringify({ noted_by: 'lunas', noted_at: new Date(), order_id: referenceId }));
  await storeNotification(db, { accountId, referenceId, reportedStatus: null, rawBody });
}

/** News that nobody has dealt with yet. */
export interface OpenNotification {
  readonly accountId: string;
  readonly referenceId: string;
  /** Null for an order that is none of ours. */
  readonly paymentId: string | null;
  readonly notificationIds: readonly number[];
}

/** So long it is left to the sweeper that has claimed it. What could not be told is due again then, and counts as untold. */
const LEASE = "interval '10 seconds'";

/** Orders with open news that are due to be told again, the longest waiting first. */
export async function claimDueNotifications(db: Queryable, max: number): Promise<OpenNotification[]> {
  const { rows } = await db.query<OpenNotification>({
    name: 'claim_due_notifications',
    text: `
      with due as (
        select id from provider_notifications
        where closed_at is null and next_notify_at <= now()
        order by next_notify_at limit $1 for update skip locked
      ),
      claimed as (
        update provider_notifications notification set next_notify_at = now() + ${LEASE}
        from due where notification.id = due.id
        returning notification.id, notification.provider_account_id, notification.reference_id
      )
      select claimed.provider_account_id as "accountId", claimed.reference_id as "referenceId",
        payment.id as "paymentId", json_agg(claimed.id) as "notificationIds"
      from claimed left join payments payment
        on payment.reference_id = claimed.reference_id and payment.provider_account_id = claimed.provider_account_id
      group by 1, 2, 3`,
    values: [max],
  });
  return rows;
}

/** Twice as long each time, but not longer than it has waited so far: of what has piled up, none is told over and over. */
const NEXT_NOTIFY_DELAY = `
  greatest(interval '5 seconds', least(now() - received_at, interval '10 seconds' * 2 ^ least(notify_attempts, 10), interval '1 hour'))`;

/** Its workflow asks by itself until the bank has confirmed the refund, and has what is left told again then. */
const IS_WAITING_FOR_BANK = `exists (
  select from late_payments late join payments payment on payment.id = late.payment_id
  where late.status = 'submitted' and payment.reference_id = notification.reference_id
    and payment.provider_account_id = notification.provider_account_id)`;

/** It was told: what is still open after this wait is told again. What fell due meanwhile stays due. */
export async function recordNotified(db: Queryable, notificationIds: readonly number[]): Promise<void> {
  await db.query({
    name: 'record_notified',
    text: `
      update provider_notifications notification set
        notify_attempts = notify_attempts + 1,
        next_notify_at = now() + case when ${IS_WAITING_FOR_BANK} then interval '1 hour' else ${NEXT_NOTIFY_DELAY} end
      where id = any ($1) and closed_at is null and next_notify_at > now()`,
    values: [notificationIds],
  });
}
