-- Up Migration

set local role lunas_owner;

-- Null: no limit, as before. The table is small.
alter table provider_accounts
  add column calls_per_second integer check (calls_per_second > 0);

-- The time of the next call to each account that has a limit, shared by all processes. A table of its own: it is
-- written at each call, and provider_accounts is read at each payment.
create table provider_call_schedules (
  provider_account_id uuid primary key references provider_accounts,
  next_call_at timestamptz not null
);

grant update (calls_per_second) on provider_accounts to lunas_operator;
-- Every process that calls a provider: the worker, operators at the command line, and operators at the API.
grant select, insert, update on provider_call_schedules to lunas_api, lunas_worker, lunas_operator;

-- Down Migration

-- There is none: see 0001_payments.sql.
