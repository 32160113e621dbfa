-- Up Migration

-- An operator recorded that the customer has the money back by another way than the provider's refund. Until now this
-- was guessed from a missing provider reference, which sound refunds may lack too.
alter table refunds add column is_manual boolean not null default false;
update refunds set is_manual = true
  where status = 'confirmed' and provider_reference is null and exists (
    select from payment_transitions transition
    where transition.payment_id = refunds.payment_id and name = 'confirm_failed_refund'
    and actor not in ('workflow', 'provider'));
alter table late_payments add column is_manual boolean not null default false;
update late_payments set is_manual = true
  where status = 'refunded' and provider_reference is null and exists (
    select from exceptions where kind = 'late_payment' and exceptions.payment_id = late_payments.payment_id
      and resolved_at is not null);

-- When PostgreSQL recorded a transition, by its own clock. `occurred_at` is the business timestamp of the step and
-- may be hours older, so it cannot show what is new. The default of existing rows is the time of this migration;
-- nothing is rewritten.
alter table payment_transitions add column if not exists recorded_at timestamptz(3) not null default now();
create index if not exists payment_transitions_recorded on payment_transitions (recorded_at, payment_id);

-- Sound verifications of the ledger. The next incremental one starts where the newest of them ended.
create table ledger_verifications (
  id bigint generated always as identity primary key,
  verified_at timestamptz(3) not null default now(),
  is_full boolean not null, -- all payments, not only those that changed
  recorded_until timestamptz(3) not null, -- every transition recorded before is verified
  posting_id bigint not null, -- every posting up to this id is verified, and counted in the balances
  balances jsonb not null -- [{ account, debitRupiah, creditRupiah }]
);
create trigger append_only before update or delete on ledger_verifications
  for each row execute function refuse_change();

-- What the scheduled reconciliation has covered. The next run compares what became final since the last complete one.
create table reconciliation_runs (
  id bigint generated always as identity primary key,
  started_at timestamptz(3) not null unique,
  ended_at timestamptz(3) not null default now(),
  changed_since timestamptz(3) not null, -- payments that became final since then were compared
  is_complete boolean not null, -- no part failed, and no result was indeterminate
  coverage jsonb not null -- for each provider account: seen, compared, indeterminate, breaks
);
create index reconciliation_runs_complete on reconciliation_runs (id) where is_complete;
create trigger append_only before update or delete on reconciliation_runs for each row execute function refuse_change();

-- Down Migration

-- There is none: see 0001_payments.sql.
