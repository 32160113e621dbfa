import { createHash } from 'node:crypto';
import { PAYOUT_STATUSES_REFLECTING, type BankPayoutStatus } from '../../domain/bank-payout';
import type { PaymentTerms } from '../../domain/payment';
import { PAYMENT_STATUSES_REFLECTING, type ReportedStatus } from '../../domain/provider-status';
import { increment } from '../../observability/metrics';
import type { Queryable } from '../connection/pool';

/* The notification inbox. A row is open until its effect, or that it has none, is recorded. */

/** A provider order, as a notification names it. A reference is unique only in its provider account. */
export type ProviderOrder = Pick<PaymentTerms, 'providerAccountId' | 'referenceId'>;

/** The newest open notification of an order, read *before* the status query that covers it; null if there is none. */
export async function newestNotification(db: Queryable, order: ProviderOrder): Promise<number | null> {
  const { rows } = await db.query<{ newest: number | null }>({
    name: 'newest_notification',
    text: `select max(id) as newest from provider_notifications
      where provider_account_id = $1 and reference_id = $2 and closed_at is null`,
    values: [order.providerAccountId, order.referenceId],
  });
  return rows[0]?.newest ?? null;
}

/** After this delay a provider's status no longer lags behind its notifications. */
const MAX_STATUS_LAG = "interval '2 minutes'";

/** What a notification reports of money that has moved. */
const MOVED_MONEY = ['paid', 'completed'] as const;

/**
 * Closes notifications after a status query whose result is recorded. It closes those up to `latestNotificationId`
 * that the status covers. The others cause another status query later, until the provider's status cannot lag behind
 * them: then the provider contradicts them.
 */
export async function closeNotifications(
  db: Queryable,
  order: ProviderOrder,
  latestNotificationId: number | null,
  covered: readonly (ReportedStatus | BankPayoutStatus)[],
): Promise<void> {
  if (latestNotificationId === null) return;
  const { rows } = await db.query<{ contradicted: string | null }>({
    name: 'close_notifications',
    text: `update provider_notifications set closed_at = now()
      where provider_account_id = $1 and reference_id = $2 and id <= $3 and closed_at is null
        and (array_position($4::text[], reported_status) is not null or received_at < now() - ${MAX_STATUS_LAG})
      returning case when array_position($4::text[], reported_status) is null then reported_status end as contradicted`,
    values: [order.providerAccountId, order.referenceId, latestNotificationId, covered],
  });
  countContradicted(rows.map(({ contradicted }) => contradicted));
}

/**
 * Counts the open notifications that report a payment, for a minute or longer, of an order that the provider has as
 * pending. There is no reason for that but a stranger with our server key, or a defect of the provider.
 */
export async function countContradictedPayments(db: Queryable, order: ProviderOrder): Promise<void> {
  const { rows } = await db.query<{ reportedStatus: string }>({
    name: 'contradicted_payments',
    text: `select reported_status as "reportedStatus" from provider_notifications
      where provider_account_id = $1 and reference_id = $2 and closed_at is null and reported_status = 'paid'
        and received_at < now() - interval '1 minute'`,
    values: [order.providerAccountId, order.referenceId],
  });
  countContradicted(rows.map(({ reportedStatus }) => reportedStatus));
}

function countContradicted(reported: readonly (string | null)[]): void {
  for (const status of MOVED_MONEY) {
    const count = reported.filter((each) => each === status).length;
    if (count > 0) increment('lunas_notifications_contradicted_total', { reported_status: status }, count);
  }
}

interface StoredNotification {
  /** The workflow must query the status now: the notification is new, not yet reflected, and not about a due expiry. */
  readonly needsQuery: boolean;
}

/** The result of storing a notification. */
export interface InboxEntry extends StoredNotification {
  /** Null if there is no such payment. */
  readonly paymentId: string | null;
}

/** The result of storing a notification of a payouts account. */
export interface PayoutInboxEntry extends StoredNotification {
  /** Null if there is no such payout. */
  readonly payout: NotifiedPayout | null;
}

/** A payout, as its workflow is started. */
interface NotifiedPayout {
  readonly payoutId: string;
  readonly merchantId: string;
}

/** A notification whose signature is verified. */
export interface Notification {
  readonly accountId: string;
  readonly referenceId: string;
  readonly reportedStatus: ReportedStatus | BankPayoutStatus;
  /** Two notifications of an account with the same dedupe key are the same. Null for a notification of our own. */
  readonly dedupeKey: string | null;
  /** The part of the dedupe key that the provider's signature covers. Null for a notification of our own. */
  readonly signed: string | null;
  readonly rawBody: Buffer;
}

/**
 * The limit for one signed part of one order. A provider has about ten to send. Its signature does not cover the whole
 * text, so a copy of one notification can be varied without limit. The variants do not count against what the provider
 * signs later, and the first notification of a signed part and a reported status is always stored.
 */
const MAX_MEANINGS = 100;

/** The payment's own timer is about to query the provider. */
const IS_NEAR_EXPIRY =
  "now() between payment.expires_at - interval '5 seconds' and payment.expires_at + interval '30 seconds'";

/**
 * Stores a verified notification once: two with the same dedupe key are the same, or, without one, with the same bytes.
 * One that the subject already reflects is stored as closed.
 * @param subject the select of the payment or the payout, with `status` and `is_expected`
 */
function storeSql(subject: string, result: string): string {
  return `
      with subject as (${subject}),
      variants as (
        select reported_status from provider_notifications
        where provider_account_id = $1 and reference_id = $2 and signed_sha256 = $8::bytea
          and dedupe_key_sha256 is not null
      ),
      stored as (
        insert into provider_notifications
          (provider_account_id, reference_id, body_sha256, body, reported_status, dedupe_key_sha256, signed_sha256,
            closed_at, next_notify_at)
        select $1::uuid, $2, $3::bytea, $4, $6, $7::bytea, $8::bytea,
          case when (select status from subject) = any ($5) then now() end,
          now() + case when (select is_expected from subject) then interval '20 seconds' else interval '5 seconds' end
        where $8::bytea is null or (select count(*) from variants) < ${MAX_MEANINGS}
          or not exists (select from variants where reported_status is not distinct from $6)
        on conflict do nothing
        returning closed_at
      )
      select
        exists (select from stored, subject where closed_at is null and is_expected is not true) as "needsQuery",
        ${result}`;
}

/**
 * Stores a notification of a payment. An expiry near the payment's own timer is due after 20 seconds, if the timer has
 * not closed it. A payment that operators refunded by other means reflects no refund of the provider.
 */
export async function storeNotification(
  db: Queryable,
  notification: Notification & { readonly reportedStatus: ReportedStatus },
): Promise<InboxEntry> {
  const { reportedStatus } = notification;
  const { rows } = await db.query<InboxEntry>({
    name: 'store_notification',
    text: storeSql(
      `
        select id, $6 = 'expired' and ${IS_NEAR_EXPIRY} as is_expected,
          case when $6 = 'refunded' and exists (select from refunds where payment_id = payment.id and is_manual)
            then null else status end as status
        from payments payment where reference_id = $2 and provider_account_id = $1`,
      '(select id from subject) as "paymentId"',
    ),
    values: valuesOf(notification, reportedStatus === null ? [] : PAYMENT_STATUSES_REFLECTING[reportedStatus]),
  });
  return rows[0] ?? { needsQuery: false, paymentId: null };
}

const NOTIFIED_PAYOUT = "json_build_object('payoutId', payout.id, 'merchantId', payout.merchant_id)";

/** Stores a notification of a payout. */
export async function storePayoutNotification(
  db: Queryable,
  notification: Notification & { readonly reportedStatus: BankPayoutStatus | null },
): Promise<PayoutInboxEntry> {
  const { reportedStatus } = notification;
  const { rows } = await db.query<PayoutInboxEntry>({
    name: 'store_payout_notification',
    text: storeSql(
      `
        select ${NOTIFIED_PAYOUT} as payout, status, false as is_expected
        from payouts payout where reference_id = $2 and provider_account_id = $1`,
      '(select payout from subject) as payout',
    ),
    values: valuesOf(notification, reportedStatus === null ? [] : PAYOUT_STATUSES_REFLECTING[reportedStatus]),
  });
  return rows[0] ?? { needsQuery: false, payout: null };
}

function valuesOf(
  { accountId, referenceId, reportedStatus, dedupeKey, signed, rawBody }: Notification,
  knownAt: readonly string[],
): unknown[] {
  const hashes = { body: sha256(rawBody), key: hashOf(dedupeKey), signed: hashOf(signed) };
  const body = rawBody.toString('utf8');
  return [accountId, referenceId, hashes.body, body, knownAt, reportedStatus, hashes.key, hashes.signed];
}

function hashOf(content: string | null): Buffer | null {
  return content === null ? null : sha256(content);
}

function sha256(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}

/**
 * Stores a notification of our own: the sweeper makes the workflow query the status, as for a provider's
 * notification.
 */
export async function scheduleStatusQuery(
  db: Queryable,
  { accountId, referenceId }: Pick<Notification, 'accountId' | 'referenceId'>,
): Promise<void> {
  const rawBody = Buffer.from(JSON.stringify({ noted_by: 'lunas', noted_at: new Date(), order_id: referenceId }));
  await storeNotification(db, { accountId, referenceId, reportedStatus: null, dedupeKey: null, signed: null, rawBody });
}

/** The open notifications of one order or one payout. */
export interface OpenNotification {
  readonly accountId: string;
  readonly referenceId: string;
  /** Null if there is no such payment. */
  readonly paymentId: string | null;
  /** Null if there is no such payout. */
  readonly payout: NotifiedPayout | null;
  readonly notificationIds: readonly number[];
}

/** How long a claim lasts. Without `recordNotified` the notification is due then, and the attempt is not counted. */
const LEASE = "interval '10 seconds'";

/** Claims open notifications that are due, the oldest due time first, and returns them by order. */
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
        payment.id as "paymentId", (
          select ${NOTIFIED_PAYOUT} from payouts payout
          where payout.reference_id = claimed.reference_id
            and payout.provider_account_id = claimed.provider_account_id
        ) as payout, json_agg(claimed.id) as "notificationIds"
      from claimed left join payments payment
        on payment.reference_id = claimed.reference_id and payment.provider_account_id = claimed.provider_account_id
      group by claimed.provider_account_id, claimed.reference_id, payment.id`,
    values: [max],
  });
  return rows;
}

/** Ends the lease of claimed notifications that were not handled: they are due immediately. */
export async function releaseNotifications(db: Queryable, notificationIds: readonly number[]): Promise<void> {
  await db.query({
    name: 'release_notifications',
    text: 'update provider_notifications set next_notify_at = now() where id = any ($1) and closed_at is null',
    values: [notificationIds],
  });
}

/**
 * Doubles with each attempt, up to half of the age of the notification: an old backlog is not handled in a tight loop.
 * With the whole age, a row of 80 s waited for another 77 s after an outage; 60 s is the limit of invariant I7.
 */
const NEXT_NOTIFY_DELAY = `
  greatest(
    interval '5 seconds',
    least((now() - received_at) / 2, interval '10 seconds' * 2 ^ least(notify_attempts, 10), interval '1 hour')
  )`;

/** The late payment's workflow polls until the bank confirms the refund, then makes the remaining notifications due. */
const IS_WAITING_FOR_BANK = `exists (
  select from late_payments late join payments payment on payment.id = late.payment_id
  where late.status = 'submitted' and payment.reference_id = notification.reference_id
    and payment.provider_account_id = notification.provider_account_id)`;

/** The workflow was signalled. Notifications that stay open are due again after a delay; those already due stay due. */
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
