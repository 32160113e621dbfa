-- Up Migration

set local role lunas_owner;

-- The order in which `lunas listen` reads. Transactions do not commit in the order of any number that they take. So a
-- reader takes only what is older than every transaction in progress, and a cursor passes no event that comes later.
-- Null: the event is from before this migration.
alter table webhook_events add column if not exists recorded_xid xid8;
alter table webhook_events alter column recorded_xid set default pg_current_xact_id();

-- Of the last redelivery that an operator requested.
alter table webhook_deliveries add column if not exists redelivered_xid xid8;

create index if not exists webhook_events_recorded_xid_idx on webhook_events (recorded_xid)
  where recorded_xid is not null;
create index if not exists webhook_deliveries_redelivered_xid_idx on webhook_deliveries (redelivered_xid)
  where redelivered_xid is not null;

grant select (body, recorded_xid) on webhook_events to lunas_api;
grant update (redelivered_xid) on webhook_deliveries to lunas_api, lunas_operator;

-- Down Migration

-- There is none: see 0001_payments.sql.
