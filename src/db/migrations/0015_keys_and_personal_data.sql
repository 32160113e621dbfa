-- Up Migration

-- `customer` and `metadata` of a request, sealed. The API writes them before it starts the workflow, so that no
-- Temporal history has them: `lunas customers erase` deletes the row, and nothing is left. The fingerprint is part of
-- the key because two requests with one idempotency key may compete; the payment keeps the fingerprint of one of them.
create table payment_details (
  payment_id uuid not null,
  fingerprint text not null,
  sealed text not null,
  created_at timestamptz(3) not null default now(),
  primary key (payment_id, fingerprint)
);
insert into payment_details (payment_id, fingerprint, sealed, created_at)
  select id, fingerprint, sealed_details, created_at from payments where sealed_details is not null;
-- Not additive: no version that writes this column was released.
alter table payments drop column sealed_details;

-- The ids of the master keys in use, for the check at the start of every process.
create index payment_details_key_id_idx on payment_details (split_part(sealed, '.', 2));
-- For the daily job that deletes details whose payment was never created.
create index payment_details_created_at_idx on payment_details (created_at);

-- Derived keys of old master keys, sealed with the current one: QR links and request fingerprints that were made with
-- an old master key stay valid after it is gone.
create table retired_keys (
  key_id text not null, -- of the master key
  label text not null, -- of the derivation
  sealed text not null,
  retired_at timestamptz(3) not null default now(),
  primary key (key_id, label)
);

-- Retention: the daily job deletes old webhook events. Young ones stay append-only, since deliveries need their bytes.
drop trigger append_only on webhook_events;
create trigger append_only before update on webhook_events for each row execute function forbid_mutation();
create trigger append_only_delete before delete on webhook_events for each row
  when (old.occurred_at > now() - interval '7 days') execute function forbid_mutation();
create trigger append_only_truncate before truncate on webhook_events execute function forbid_mutation();
-- Rows of one day are neighbours, so a block range index of some kilobytes finds the old ones.
create index if not exists webhook_events_occurred_at_idx on webhook_events using brin (occurred_at);
create index if not exists provider_notifications_received_at_idx on provider_notifications using brin (received_at);

-- Down Migration

-- There is none: see 0001_payments.sql.
