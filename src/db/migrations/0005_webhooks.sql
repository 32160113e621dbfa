-- Up Migration

-- How an endpoint fares. After too many failures in a row its deliveries wait for it here, and one of them goes out
-- as a probe from time to time.
alter table webhook_endpoints
  add column consecutive_failures integer not null default 0 check (consecutive_failures >= 0),
  add column failing_since timestamptz(3), -- of the first failure after the last success
  add column retry_at timestamptz(3), -- set: its deliveries wait, no probe goes out before then
  add check ((consecutive_failures > 0) = (failing_since is not null)),
  add check (retry_at is null or consecutive_failures > 0);

alter table webhook_deliveries
  add column tries integer not null default 0, -- of the twelve; a redelivery begins anew, `attempts` goes on
  add column queued_at timestamptz(3) not null default now(); -- when it became pending, for the first time or again
update webhook_deliveries set tries = attempts, queued_at = created_at;

-- What the relay has to send, endpoint by endpoint, and what is pending of one.
drop index webhook_deliveries_due;
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id, (handed_over_at is null), queued_at)
  where status = 'pending';
create index webhook_deliveries_newest_first on webhook_deliveries (created_at desc, id desc);

-- Down Migration

-- There is none: see 0001_payments.sql.
