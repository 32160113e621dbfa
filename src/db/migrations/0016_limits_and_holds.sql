-- Up Migration

-- While a merchant is on hold, nothing of it is settled.
alter table merchants add column held_at timestamp(3) with time zone;

-- What a notification means: two with the same meaning are the same, whatever their bytes. Null for a notification of
-- our own, and for those that were stored before.
alter table provider_notifications add column meaning_sha256 bytea check (octet_length(meaning_sha256) = 32);
create unique index if not exists provider_notifications_meaning_key
  on provider_notifications (provider_account_id, reference_id, meaning_sha256) where meaning_sha256 is not null;

-- Down Migration

-- There is none: see 0001_payments.sql.
