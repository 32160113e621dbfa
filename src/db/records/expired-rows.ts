import type { ExpiringData, ExpirySlice } from '../../domain/retention';
import type { Queryable } from '../connection/pool';

/** A batch takes milliseconds and locks few rows, so that it does not slow the service down. */
const BATCH = 1_000;

/** Details are written before their payment. After this time a creation without a payment has failed. */
const UNUSED_DETAILS = "interval '1 day'";

/** Deletes a batch of what is older than $1. A delivery has its attempts; an event goes after its last delivery. */
const DELETE_BATCH: Readonly<Record<ExpiringData, string>> = {
  webhook_deliveries: `
    with old as (
      select id from webhook_deliveries where created_at < $1 and status <> 'pending'
      order by created_at, id limit ${BATCH}
    ),
    attempts as (delete from webhook_attempts using old where delivery_id = old.id)
    delete from webhook_deliveries delivery using old where delivery.id = old.id and delivery.status <> 'pending'`,
  webhook_events: `
    delete from webhook_events where ctid = any (array(
      select event.ctid from webhook_events event
      where occurred_at < $1 and not exists (
        select from webhook_deliveries delivery
        where delivery.payment_id = event.payment_id and delivery.payment_version = event.payment_version
      )
      limit ${BATCH}
    ))`,
  provider_notifications: `
    delete from provider_notifications where id in (
      select id from provider_notifications where received_at < $1 and closed_at is not null limit ${BATCH}
    )`,
  payment_details: `
    delete from payment_details where (payment_id, fingerprint) in (
      select payment_id, fingerprint from payment_details details
      where created_at < $1 or (created_at < now() - ${UNUSED_DETAILS} and not exists (
        select from payments where payments.id = details.payment_id and payments.fingerprint = details.fingerprint
      ))
      limit ${BATCH}
    )`,
};

/** Deletes batches until nothing is left, or the time is over. */
export async function deleteExpiredRows(
  db: Queryable,
  data: ExpiringData,
  before: Date,
  limitMs: number,
): Promise<ExpirySlice> {
  const deadlineAtMs = performance.now() + limitMs;
  for (let deleted = 0; ;) {
    const { rowCount } = await db.query(DELETE_BATCH[data], [before]);
    deleted += rowCount ?? 0;
    if (rowCount === 0) return { deleted, isDone: true };
    if (performance.now() > deadlineAtMs) return { deleted, isDone: false };
  }
}
