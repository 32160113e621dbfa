import type { Queryable } from '../connection/pool';

/** `customer` and `metadata` of a creation request, sealed. */
export interface SealedDetails {
  readonly paymentId: string;
  /** Requests with one idempotency key may compete. The payment has the fingerprint of the one that created it. */
  readonly fingerprint: string;
  readonly sealed: string;
}

/**
 * Stores the details of new payments, before their workflows start. The details of an existing payment are not stored:
 * they may have been erased. The order of the rows keeps two requests for the same payments from a deadlock.
 */
export async function storeDetails(db: Queryable, details: readonly SealedDetails[]): Promise<void> {
  if (details.length === 0) return;
  await db.query({
    name: 'store_details',
    text: `insert into payment_details (payment_id, fingerprint, sealed)
      select payment_id, fingerprint, sealed
      from unnest($1::uuid[], $2::text[], $3::text[]) as new (payment_id, fingerprint, sealed)
      where not exists (select from payments where payments.id = new.payment_id)
      order by payment_id
      on conflict (payment_id, fingerprint) do nothing`,
    values: [
      details.map(({ paymentId }) => paymentId),
      details.map(({ fingerprint }) => fingerprint),
      details.map(({ sealed }) => sealed),
    ],
  });
}

/** The sealed details of a payment; undefined if its request had none, or they were erased. */
export async function findDetails(db: Queryable, paymentId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ sealed: string }>(
    `select sealed from payment_details details
     join payments on payments.id = details.payment_id and payments.fingerprint = details.fingerprint
     where payments.id = $1`,
    [paymentId],
  );
  return rows[0]?.sealed;
}

/**
 * Deletes the details of a payment and every text about it that others wrote: the bodies of the provider's
 * notifications, and what a webhook receiver returned. The payment and its ledger stay. Repeatable. It is one
 * statement, so that none of it is left if one part fails.
 */
export async function eraseDetails(db: Queryable, paymentId: string): Promise<void> {
  await db.query(
    `with details as (delete from payment_details where payment_id = $1),
     notifications as (
       update provider_notifications notification set body = ''
       from payments where payments.id = $1
         and notification.provider_account_id = payments.provider_account_id
         and notification.reference_id = payments.reference_id
     )
     update webhook_attempts attempt set response_excerpt = null
     from webhook_deliveries delivery where delivery.payment_id = $1 and attempt.delivery_id = delivery.id`,
    [paymentId],
  );
}
