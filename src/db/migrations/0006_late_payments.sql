-- Up Migration

-- Money that came for a payment after its end (`expired`, `cancelled`, `failed`). It is held in suspense until the
-- customer has it back; where the provider cannot or does not give it back, a person sees to it (`kept`, with an
-- exception).
create table late_payments (
  payment_id uuid primary key references payments,
  merchant_id uuid not null references merchants,
  total_rupiah bigint not null check (total_rupiah > 0), -- what the provider has received
  provider_transaction_id text not null,
  paid_at timestamptz(3) not null,
  status text not null check (status in ('received', 'submitted', 'refunded', 'kept')),
  received_at timestamptz(3) not null,
  submitted_at timestamptz(3), -- committed before the provider is asked for the first time
  finished_at timestamptz(3),
  refund_key text not null unique,
  provider_reference text,
  failure_reason text,
  check ((status in ('refunded', 'kept')) = (finished_at is not null)),
  check (status <> 'kept' or failure_reason is not null)
);
create index late_payments_open on late_payments (received_at) where status in ('received', 'submitted');

-- A posting books either a transition of a payment or a step of late money.
alter table ledger_postings
  alter column payment_version drop not null,
  add column late_step text check (late_step in ('receive', 'refund')),
  add check (num_nonnulls(payment_version, late_step) = 1),
  add unique (payment_id, late_step);

-- What no rule decides: a case for a person. One open case a kind and order; nothing here is ever deleted.
create table exceptions (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in (
    'late_payment', 'wrong_amount', 'unknown_order', 'paid_twice', 'refunded_after_settlement',
    'reconciliation')),
  provider_account_id uuid references provider_accounts,
  reference_id text not null,
  payment_id uuid references payments,
  amount_rupiah bigint,
  detail text not null,
  opened_at timestamptz(3) not null default now(),
  resolved_at timestamptz(3),
  resolved_by text,
  note text,
  check ((resolved_at is null) = (resolved_by is null))
);
create unique index exceptions_open on exceptions (kind, reference_id) where resolved_at is null;
create index exceptions_newest_first on exceptions (opened_at desc);

-- The sweeper tells again what is open: ever less often.
alter table provider_notifications
  add column told integer not null default 0,
  add column tell_again_at timestamptz(3) not null default now() + interval '5 seconds';
create index provider_notifications_to_tell on provider_notifications (tell_again_at) where closed_at is null;

-- Down Migration

-- There is none: see 0001_payments.sql.
