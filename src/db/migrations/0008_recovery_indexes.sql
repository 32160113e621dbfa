-- Up Migration

-- What recovery, reconciliation and the operators' lists read, among any number of rows that are final. On a large
-- installation create these indexes with `create index concurrently` first (docs/production.md): this migration then
-- skips them.

-- `(status || '')` is the status as an expression: a statement about one status is not planned with these indexes by
-- chance.

-- Payments that are open, by provider account: read by `lunas recover` and by reconciliation, page by page.
create index if not exists payments_open on payments (provider_account_id, id)
  where (status || '') in ('created', 'pending', 'paid', 'refund_processing', 'refund_failed');
-- Payments that became final, by provider account and time. An index entry is written once for each payment.
create index if not exists payments_final on payments (provider_account_id, updated_at, id)
  where (status || '') in ('expired', 'settled', 'failed', 'cancelled', 'refunded');

-- The operators' list, of all merchants, by status. It replaces the index without the status: the list of all
-- statuses merges the heads of ten ranges.
create index if not exists payments_by_status_of_all
  on payments ((status || ''), (created_at at time zone 'utc') desc, id desc);
drop index payments_of_all_newest_first;

-- Refunds that the provider has not confirmed. What is refused is found by the payment, which is `refund_failed`.
create index if not exists refunds_submitted on refunds (submitted_at) where status = 'submitted';
drop index refunds_refused;

create index if not exists exceptions_open_newest_first on exceptions (opened_at desc, id) where resolved_at is null;

-- Late payments whose refund is not final, page by page.
create index if not exists late_payments_unfinished on late_payments (payment_id)
  where status in ('received', 'submitted');
drop index late_payments_open;

-- What the relay has to send, endpoint by endpoint; and what retry workflows have to send. Two indexes instead of
-- one, so that a claim does not walk endpoints for which only retries are pending. Each pending delivery is in one of
-- both.
create index if not exists webhook_deliveries_outbox on webhook_deliveries (endpoint_id, queued_at)
  where status = 'pending' and handed_over_at is null;
create index if not exists webhook_deliveries_retried on webhook_deliveries (endpoint_id, id)
  where status = 'pending' and handed_over_at is not null;
drop index webhook_deliveries_pending;
-- Dead deliveries, to be redelivered by a range of time.
create index if not exists webhook_deliveries_dead on webhook_deliveries (created_at, id) where status = 'dead';

-- Down Migration

-- There is none: see 0001_payments.sql.
