-- Up Migration

set local role lunas_owner;

-- Grows with each claim of deliveries of the endpoint, so that a claim notices another one that ended meanwhile.
alter table webhook_endpoints
  add column if not exists claim_number bigint not null default 0;

grant update (claim_number) on webhook_endpoints to lunas_worker, lunas_operator;

-- Down Migration

-- There is none: see 0001_payments.sql.
