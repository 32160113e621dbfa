import { createHash } from 'node:crypto';
import type { Queryable } from '../../db/pool';

/** What the inbox knows after a notification came in. */
export interface InboxEntry {
  /** Its effect is recorded already: this is a copy. */
  readonly closed: boolean;
  /** Null for an order that is none of ours. */
  readonly paymentId: string | null;
}

/** A notification whose sender is known. */
export interface Notification {
  readonly accountId: string;
  readonly referenceId: string;
  /** Without news it is kept for the record only, closed from the start. */
  readonly hasNews: boolean;
  readonly rawBody: Buffer;
}

/** Stores a genuine notification once, however often it comes: two with the same bytes are the same. */
export async function storeNotification(db: Queryable, notification: Notification): Promise<InboxEntry> {
  const { accountId, referenceId, hasNews, rawBody } = notification;
  const { rows } = await db.query<InboxEntry>({
    name: 'store_provider_notification',
    text: `
      with stored as (
        insert into provider_notifications (provider_account_id, reference_id, body_sha256, body, closed_at)
        values ($1, $2, $3, $4, case when $5 then null::timestamptz else now() end)
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
        (select id from payments where reference_id = $2 and provider_account_id = $1) as "paymentId"`,
    values: [accountId, referenceId, createHash('sha256').update(rawBody).digest(), rawBody.toString('utf8'), hasNews],
  });
  return rows[0] ?? { closed: false, paymentId: null };
}
