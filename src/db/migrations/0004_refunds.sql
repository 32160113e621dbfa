-- Up Migration

-- The refunds of a payment, one at a time. A round that was refused or cancelled is followed by one with a new key;
-- however often a round is tried, its key is the same.
create table refunds (
  payment_id uuid not null references payments,
  round smallint not null check (round between 1 and 20),
  refund_key text not null unique, -- what the provider knows it by
  amount_rupiah bigint not null check (amount_rupiah > 0),
  status text not null check (status in ('held', 'submitted', 'confirmed', 'refused', 'cancelled')),
  requested_at timestamptz(3) not null,
  submit_at timestamptz(3) not null, -- until then it is held back, and can be cancelled
  submitted_at timestamptz(3), -- committed before the provider is asked for the first time; from then on it cannot
  finished_at timestamptz(3),
  provider_reference text,
  failure_reason text,
  primary key (payment_id, round),
  check ((status in ('confirmed', 'refused', 'cancelled')) = (finished_at is not null)),
  check ((status in ('held', 'cancelled')) = (submitted_at is null)),
  check (status <> 'refused' or failure_reason is not null)
);
create unique index refunds_open on refunds (payment_id) where status in ('held', 'submitted');

-- Down Migration

-- There is none: see 0001_payments.sql.
