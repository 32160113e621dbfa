import { createHash } from 'node:crypto';
import { NO_NEWS_AT, type ProviderPaymentStatus } from '../domain/provider-status';
import type { Queryable } from './pool';

/** The inbox of what providers tell us: a row is open until its effect, or that it has none, is recorded. */

/** The newest open notification of an order, to be closed once the provider was asked *after* it; null without one. */
export async function newestNotification(db: Queryable, referenceId: string): Promise<number | null> {
  const { rows } = await db.query<{ newest: number | null }>({
    name: 'newest_notification',
    text: 'select max(id) as newest from provider_notifications where reference_id = $1 and closed_at is null',
    values: [referenceId],
  });
  return rows[0]?.newest ?? null;
}

/** The provider was asked, and has no more to say than we know: what was heard up to then is done with. */
export async function closeNotifications(db: Queryable, referenceId: string, upTo: number | null): Promise<void> {
  if (upTo === null) return;
  await db.query({
    name: 'close_notifications',
    text: `update provider_notifications set closed_at = now()
      where reference_id = $1 and id <= $2 and closed_at is null`,
    values: [referenceId, upTo],
  });
}

/** What the inbox knows after a notification came in. */
export interface InboxEntry {
  /** Its effect is recorded already: this is a copy. */
  readonly closed: boolean;
  /** It says what the payment's own timer asks for at this time: nobody needs to wake it. */
  readonly isExpected: boolean;
  /** Null for an order that is none of ours. */
  readonly paymentId: string | null;
}

/** A notification whose sender is known. */
export interface Notification {
  readonly accountId: string;
  readonly referenceId: string;
  /** What it says of the order; null where that is to be asked in any case. */
  readonly says: ProviderPaymentStatus | null;
  readonly rawBody: Buffer;
}

/** An expiry that is notified of so long before or after is one that the payment's own timer is about to find. */
const TIMER_ASKS =
  "now() between payment.expires_at - interval '5 seconds' and payment.expires_at + interval '30 seconds'";

/**
 * Stores a genuine notification once, however often it comes: two with the same bytes are the same. One that says what we know
 * already is kept for the record only, closed from the start; one that is expected is told only if the timer has not come to
 * it after 20 s.
 */
export async function storeNotification(db: Queryable, notification: Notification): Promise<InboxEntry> {
  const { accountId, referenceId, says, rawBody } = notification;
  const knownAt = says === null ? [] : NO_NEWS_AT[says];
  const bodySha256 = createHash('sha256').update(rawBody).digest();
  const { rows } = await db.query<InboxEntry>({
    name: 'store_provider_notification',
    text: `
      with payment as (
        select id, status, $6 and ${TIMER_ASKS} as is_expected
        from payments payment where reference_id = $2 and provider_account_id = $1
      ),
      stored as (
        insert into provider_notifications (provider_account_id, reference_id, body_sha256, body, closed_at, tell_again_at)
        values ($1, $2, $3, $4, case when (select status from payment) = any ($5) then now() end,
          now() + case when (select is_expected from payment) then interval '20 seconds' else interval '5 seconds' end)
        on conflict (provider_account_id, body_sha256) do nothing
        returning closed_at
      )
      select
        coalesce(
          (select closed_at is not null from stored),
          (select closed_at is not null from provider_notifications
            where provider_account_id = $1 and body_sha256 = $3),
          false
        ) as closed,
        coalesce((select is_expected from payment), false) as "isExpected",
        (select id from payment) as "paymentId"`,
    values: [accountId, referenceId, bodySha256, rawBody.toString('utf8'), knownAt, says === 'expired'],
  });
  return rows[0] ?? { closed: false, isExpected: false, paymentId: null };
}

/** News of an order that nobody notified us of: the sweeper tells it like any other. */
export async function noteNews(
  db: Queryable,
  { accountId, referenceId }: Pick<Notification, 'accountId' | 'referenceId'>,
): Promise<void> {
  const rawBody = Buffer.from(JSON.stringify({ noted_by: 'lunas', noted_at: new Date(), order_id: referenceId }));
  await storeNotification(db, { accountId, referenceId, says: null, rawBody });
}

/** News that nobody has dealt with yet. */
export interface OpenNews {
  readonly accountId: string;
  readonly referenceId: string;
  /** Null for an order that is none of ours. */
  readonly paymentId: string | null;
}

/** Twice as long each time, but not longer than it has waited so far: of what has piled up, none is told over and over. */
const NEXT_WAIT = `
  greatest(interval '5 seconds', least(now() - notification.received_at, interval '10 seconds' * 2 ^ least(notification.told, 10), interval '1 hour'))`;

/** Orders with open news that are due to be told again, the longest waiting first. */
export async function claimOpenNews(db: Queryable, most: number): Promise<OpenNews[]> {
  const { rows } = await db.query<OpenNews>({
    name: 'claim_open_news',
    text: `
      with due as (
        select id from provider_notifications
        where closed_at is null and tell_again_at <= now()
        order by tell_again_at limit $1 for update skip locked
      ),
      told as (
        update provider_notifications notification set
          told = told + 1,
          tell_again_at = now() + ${NEXT_WAIT}
        from due where notification.id = due.id
        returning notification.provider_account_id, notification.reference_id
      )
      select distinct told.provider_account_id as "accountId", told.reference_id as "referenceId", payment.id as "paymentId"
      from told left join payments payment
        on payment.reference_id = told.reference_id and payment.provider_account_id = told.provider_account_id`,
    values: [most],
  });
  return rows;
}
