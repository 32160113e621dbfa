-- Up Migration

set local role lunas_owner;

-- Notifications of providers ------------------------------------------------------------------------------------------

-- The inbox. A row is open until the statement that records the effect closes it. The sweeper notifies the workflow of
-- an open one again, ever less often.
create table provider_notifications (
  id bigint generated always as identity primary key,
  provider_account_id uuid not null references provider_accounts,
  reference_id text not null,
  body_sha256 bytea not null check (octet_length(body_sha256) = 32),
  body text not null,
  received_at timestamptz(3) not null default now(),
  closed_at timestamptz(3),
  notify_attempts integer not null default 0,
  next_notify_at timestamptz(3) not null default now() + interval '5 seconds',
  -- What it reports. A transition closes only what its new status reflects; null is left to a status query.
  reported_status text check (reported_status in ('pending', 'paid', 'expired', 'cancelled', 'denied', 'refunded',
    'completed', 'failed', 'returned')),
  -- Two with the same key are the same, whatever their bytes. Null: it is our own.
  dedupe_key_sha256 bytea check (octet_length(dedupe_key_sha256) = 32),
  signed_sha256 bytea, -- what the provider has signed of it; null: it is our own
  -- Also finds the notifications of one order. The key of a provider's notification follows from its bytes.
  constraint provider_notifications_dedupe_key unique (provider_account_id, reference_id, dedupe_key_sha256)
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000
);
create unique index provider_notifications_own_key on provider_notifications (provider_account_id, body_sha256)
  where dedupe_key_sha256 is null;
create index provider_notifications_due_idx on provider_notifications (next_notify_at) where closed_at is null;
create index provider_notifications_retention_idx on provider_notifications (received_at, id);

-- Exceptions and reconciliation ---------------------------------------------------------------------------------------

-- What no rule decides: a case for a person. Nothing here is ever deleted.
create table exceptions (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('late_payment', 'wrong_amount', 'unknown_order', 'paid_twice',
    'refunded_after_settlement', 'refunded_twice', 'reconciliation', 'foreign_qris', 'changed_amount',
    'payout_conflict', 'payout_amount', 'payout_source_balance', 'unknown_payout', 'lost_payout')),
  -- If a command repairs what is behind it.
  cause text check (cause in ('lost', 'overdue', 'failed_run')),
  provider_account_id uuid references provider_accounts,
  reference_id text not null,
  payment_id uuid references payments,
  amount_rupiah bigint,
  detail text not null,
  opened_at timestamptz(3) not null default now(),
  resolved_at timestamptz(3),
  resolved_by text,
  note text,
  constraint exceptions_resolved_by_if_resolved check ((resolved_at is null) = (resolved_by is null))
);
-- One open case for a kind and order. Two provider accounts can have an order of the same reference.
create unique index exceptions_open_per_account_key
  on exceptions (kind, reference_id, provider_account_id) nulls not distinct where resolved_at is null;
create index exceptions_opened_at_idx on exceptions (opened_at desc);
create index exceptions_open_opened_at_idx on exceptions (opened_at desc, id) where resolved_at is null;
create index exceptions_reference_id_idx on exceptions (reference_id);
-- PostgreSQL looks for the exceptions of each payment that is archived.
create index exceptions_payment_id_idx on exceptions (payment_id) where payment_id is not null;

-- A worker closes only what it opened, and not what an operator has to look at: a comparison without a break closes the
-- exception of an earlier run, and the provider's refund closes that of the late payment.
create function close_exceptions(wanted_kind text, account uuid, reference_ids text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if wanted_kind not in ('reconciliation', 'late_payment') then
    raise exception 'only an operator resolves a % exception', wanted_kind using errcode = 'restrict_violation';
  end if;
  update exceptions set resolved_at = now(),
    resolved_by = case wanted_kind when 'reconciliation' then 'reconciliation' else 'provider' end,
    note = case wanted_kind when 'reconciliation' then 'a later run found no break' else 'the provider refunded it' end
  where kind = wanted_kind and reference_id = any (reference_ids) and resolved_at is null
    and provider_account_id is not distinct from account; -- null: that of a workflow without a row
end $$;

-- What the scheduled reconciliation has covered. The next run compares what became final since the last complete one.
create table reconciliation_runs (
  id bigint generated always as identity primary key,
  started_at timestamptz(3) not null unique,
  ended_at timestamptz(3) not null default now(),
  changed_since timestamptz(3) not null, -- payments that became final since then were compared
  is_complete boolean not null, -- no part failed, and no result was indeterminate
  coverage jsonb not null -- for each provider account: seen, compared, indeterminate, breaks
);
create index reconciliation_runs_complete_idx on reconciliation_runs (id) where is_complete;

-- Each run of a schedule.
create table daily_runs (
  kind text not null check (kind in ('payouts', 'closing', 'retention', 'reconciliation', 'ledger_verification',
    'audit_verification')),
  started_at timestamptz(3) not null,
  day date not null generated always as (booking_day(started_at)) stored, -- in WIB
  finished_at timestamptz(3), -- null: it runs, or it was terminated
  is_complete boolean not null default false, -- nothing is left that it should have done
  done_count bigint not null default 0,
  failed_count bigint not null default 0,
  failed text[] not null default '{}', -- with whom, the first of them: merchants, provider accounts, kinds of data
  failure text, -- why it failed as a whole
  primary key (kind, started_at),
  constraint daily_runs_complete_if_finished check (finished_at is not null or not is_complete)
);
create index daily_runs_complete_idx on daily_runs (kind, finished_at) where is_complete;

-- A role writes the runs of its own work, and none changes one that is finished.
alter table daily_runs enable row level security;
create policy every_run_readable on daily_runs for select
  to lunas_worker, lunas_payouts, lunas_verifier, lunas_operator, lunas_reader using (true);
create policy runs_of_payments on daily_runs to lunas_worker
  using (kind in ('closing', 'retention', 'reconciliation') and finished_at is null)
  with check (kind in ('closing', 'retention', 'reconciliation'));
create policy runs_of_payouts on daily_runs to lunas_payouts
  using (kind = 'payouts' and finished_at is null) with check (kind = 'payouts');
create policy runs_of_verifications on daily_runs to lunas_verifier
  using (kind in ('ledger_verification', 'audit_verification') and finished_at is null)
  with check (kind in ('ledger_verification', 'audit_verification'));

-- Orders whose status the provider did not return in one or more runs of reconciliation in succession.
create table indeterminate_orders (
  payment_id uuid primary key references payments on delete cascade,
  run_count integer not null default 1 check (run_count > 0),
  last_run_at timestamptz(3) not null default now()
);

-- Rights --------------------------------------------------------------------------------------------------------------

grant select on exceptions to lunas_api, lunas_worker, lunas_operator;
grant insert on exceptions to lunas_worker, lunas_operator;
grant update (resolved_at, resolved_by, note) on exceptions to lunas_api, lunas_operator;
revoke execute on function close_exceptions from public;
grant execute on function close_exceptions to lunas_worker, lunas_operator;
grant select, insert on reconciliation_runs to lunas_worker, lunas_operator;
grant select on daily_runs to lunas_worker, lunas_payouts, lunas_verifier, lunas_operator;
grant insert (kind, started_at, finished_at, is_complete, done_count, failed_count, failed, failure),
  update (finished_at, is_complete, done_count, failed_count, failed, failure)
  on daily_runs to lunas_worker, lunas_payouts, lunas_verifier;
grant select (kind, started_at, day, finished_at, is_complete, done_count, failed_count, failed) on daily_runs
  to lunas_reader;
grant select, insert, update, delete on indeterminate_orders to lunas_worker, lunas_operator;
grant select (id, provider_account_id, reference_id, body_sha256, received_at, closed_at, notify_attempts,
  next_notify_at, reported_status, dedupe_key_sha256, signed_sha256), insert on provider_notifications
  to lunas_api, lunas_worker, lunas_operator;
grant update (closed_at, next_notify_at) on provider_notifications to lunas_api, lunas_worker, lunas_operator;
grant update (notify_attempts), delete on provider_notifications to lunas_worker;
grant update (body) on provider_notifications to lunas_operator; -- `lunas customers erase`
grant select on exceptions to lunas_payouts;
grant insert on exceptions to lunas_payouts;
grant execute on function close_exceptions to lunas_payouts;
grant select (id, provider_account_id, reference_id, received_at, closed_at, next_notify_at, reported_status), update
  (closed_at, next_notify_at) on provider_notifications to lunas_payouts;
grant select on reconciliation_runs, indeterminate_orders, exceptions to lunas_reader;
grant select (id, provider_account_id, reference_id, received_at, closed_at, notify_attempts, next_notify_at,
  reported_status) on provider_notifications to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
