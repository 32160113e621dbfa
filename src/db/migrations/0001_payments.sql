-- Up Migration

-- Instants as the contract shows them: ISO 8601, UTC, milliseconds.
create function iso_utc(instant timestamptz) returns text
  language sql immutable strict parallel safe
  return to_char(instant at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end $$;

-- Merchants and what they may do -------------------------------------------------------------------------------

create table merchants (
  id uuid primary key,
  name text not null check (name <> ''),
  status text not null default 'pending' check (status in ('pending', 'approved', 'suspended')),
  fee_payer text not null default 'merchant' check (fee_payer in ('buyer', 'merchant')),
  providers text[] not null default '{gopay}' check (providers <@ '{gopay,shopeepay}'),
  payment_method_active boolean not null default true,
  created_at timestamptz(3) not null default now()
);

create table api_keys (
  id uuid primary key,
  merchant_id uuid not null references merchants,
  secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
  prefix text not null,
  last_four text not null,
  allowed_networks cidr[] not null default '{}', -- empty: from anywhere
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3)
);
create index api_keys_by_merchant on api_keys (merchant_id);

-- The catalog: a change is a new version, a payment keeps the one that it captured.
create table policies (
  id uuid primary key,
  provider text not null check (provider in ('gopay', 'shopeepay')),
  channel text not null check (channel in ('qris')),
  version integer not null check (version > 0),
  fee_basis_points integer not null check (fee_basis_points between 0 and 10000),
  fee_flat_rupiah bigint not null check (fee_flat_rupiah between 0 and 10000000),
  settlement_kind text not null check (settlement_kind in ('automatic', 'manual')),
  settlement_delay_seconds integer not null check (settlement_delay_seconds >= 0),
  expires_in_seconds integer not null check (expires_in_seconds > 0),
  created_at timestamptz(3) not null default now(),
  unique (provider, channel, version)
);

create table provider_accounts (
  id uuid primary key,
  provider text not null check (provider in ('gopay', 'shopeepay')),
  adapter text not null check (adapter in ('midtrans')),
  base_url text not null,
  sealed_server_key text not null,
  weight integer not null default 1 check (weight > 0),
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  created_at timestamptz(3) not null default now()
);
create index provider_accounts_by_provider on provider_accounts (provider) where status = 'enabled';

-- Payments -----------------------------------------------------------------------------------------------------

create table payments (
  id uuid primary key,
  reference_id text not null unique,
  merchant_id uuid not null references merchants,
  merchant_reference_id text,
  idempotency_key text,
  fingerprint text not null,
  payment_method text not null check (payment_method in ('qris')),
  provider text not null check (provider in ('gopay', 'shopeepay')),
  provider_account_id uuid not null references provider_accounts,
  currency text not null default 'IDR' check (currency = 'IDR'),
  amount_rupiah bigint not null check (amount_rupiah > 0),
  fee_rupiah bigint not null check (fee_rupiah >= 0),
  total_rupiah bigint not null check (total_rupiah between 1 and 10000000),
  net_rupiah bigint not null check (net_rupiah > 0),
  fee_payer text not null check (fee_payer in ('buyer', 'merchant')),
  policy_id uuid not null references policies,
  settlement_kind text not null check (settlement_kind in ('automatic', 'manual')),
  settlement_delay_seconds integer not null check (settlement_delay_seconds >= 0),
  sealed_details text, -- customer and metadata, sealed with the master key
  status text not null check (status in ('created', 'pending', 'paid', 'expired', 'settled', 'failed', 'cancelled',
    'refund_processing', 'refund_failed', 'refunded')),
  version integer not null check (version > 0), -- counts the transitions
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  paid_at timestamptz(3), -- the provider's time of payment
  cancelled_at timestamptz(3),
  settlement_due_at timestamptz(3), -- from the first time that it was recorded as paid
  qris_payload text,
  provider_transaction_id text,
  failure_reason text,
  check (total_rupiah = net_rupiah + fee_rupiah),
  check (total_rupiah = case fee_payer when 'buyer' then amount_rupiah + fee_rupiah else amount_rupiah end)
);
create index payments_newest_first on payments (merchant_id, created_at desc, id desc);

create table payment_transitions (
  payment_id uuid not null references payments,
  version integer not null check (version > 0),
  name text not null,
  from_status text,
  to_status text not null,
  occurred_at timestamptz(3) not null,
  actor text not null,
  note text,
  primary key (payment_id, version)
);
create trigger append_only before update or delete on payment_transitions for each row execute function refuse_change();
create trigger append_only_truncate before truncate on payment_transitions execute function refuse_change();

-- The ledger ---------------------------------------------------------------------------------------------------

create table ledger_postings (
  id bigint generated always as identity primary key,
  payment_id uuid not null,
  payment_version integer not null,
  merchant_id uuid not null references merchants,
  occurred_at timestamptz(3) not null,
  unique (payment_id, payment_version), -- a transition is booked once
  foreign key (payment_id, payment_version) references payment_transitions
);

create table ledger_entries (
  posting_id bigint not null references ledger_postings,
  line smallint not null,
  account text not null check (account in ('provider_receivable', 'merchant_pending', 'merchant_available',
    'fee_revenue', 'suspense')),
  side text not null check (side in ('debit', 'credit')),
  amount_rupiah bigint not null check (amount_rupiah > 0),
  primary key (posting_id, line)
);

create trigger append_only before update or delete on ledger_postings for each row execute function refuse_change();
create trigger append_only_truncate before truncate on ledger_postings execute function refuse_change();
create trigger append_only before update or delete on ledger_entries for each row execute function refuse_change();
create trigger append_only_truncate before truncate on ledger_entries execute function refuse_change();

-- Fires at the end of the statement that wrote the posting, when its entries are there too.
create function require_balanced_posting() returns trigger language plpgsql as $$
declare
  posting bigint;
  balance bigint;
begin
  if tg_table_name = 'ledger_postings' then posting := new.id; else posting := new.posting_id; end if;
  select sum(case side when 'debit' then amount_rupiah else -amount_rupiah end) into balance
    from ledger_entries where posting_id = posting;
  if balance is null then
    raise exception 'ledger posting % has no entries', posting using errcode = 'check_violation';
  elsif balance <> 0 then
    raise exception 'ledger posting % is off by % rupiah', posting, balance using errcode = 'check_violation';
  end if;
  return null;
end $$;

create constraint trigger balanced after insert on ledger_postings
  for each row execute function require_balanced_posting();
create constraint trigger balanced after insert on ledger_entries
  for each row execute function require_balanced_posting();

-- Webhooks -----------------------------------------------------------------------------------------------------

create table webhook_endpoints (
  id uuid primary key,
  merchant_id uuid not null references merchants,
  url text not null,
  events text[], -- null: every event
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  created_at timestamptz(3) not null default now()
);
create index webhook_endpoints_by_merchant on webhook_endpoints (merchant_id);

create table webhook_secrets (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints,
  sealed_secret text not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) -- set when a newer one replaces it
);
create index webhook_secrets_by_endpoint on webhook_secrets (endpoint_id);

create table webhook_events (
  payment_id uuid not null,
  payment_version integer not null,
  event text not null,
  body text not null, -- the very bytes that are signed and sent
  occurred_at timestamptz(3) not null,
  primary key (payment_id, payment_version),
  foreign key (payment_id, payment_version) references payment_transitions
);
create trigger append_only before update or delete on webhook_events for each row execute function refuse_change();

create table webhook_deliveries (
  id uuid primary key,
  payment_id uuid not null,
  payment_version integer not null,
  endpoint_id uuid not null references webhook_endpoints,
  merchant_id uuid not null references merchants,
  status text not null check (status in ('pending', 'delivered', 'dead')),
  dead_reason text,
  attempts integer not null default 0,
  leased_until timestamptz(3) not null default '-infinity', -- a relay has it in hand until then
  handed_over_at timestamptz(3), -- its retries are a workflow's from then on
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  unique (payment_id, payment_version, endpoint_id),
  foreign key (payment_id, payment_version) references webhook_events,
  check ((status = 'pending') = (finished_at is null)),
  check ((status = 'dead') = (dead_reason is not null))
);
create index webhook_deliveries_due on webhook_deliveries (created_at)
  where status = 'pending' and handed_over_at is null;
create index webhook_deliveries_by_merchant on webhook_deliveries (merchant_id, created_at desc);

create table webhook_attempts (
  delivery_id uuid not null references webhook_deliveries,
  number integer not null check (number > 0),
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  status_code integer,
  failure text,
  response_excerpt text,
  primary key (delivery_id, number)
);

-- Provider notifications: the inbox. Open until the statement that records the effect closes the row. ---------------

create table provider_notifications (
  id bigint generated always as identity primary key,
  provider_account_id uuid not null references provider_accounts,
  reference_id text not null,
  body_sha256 bytea not null check (octet_length(body_sha256) = 32),
  body text not null,
  received_at timestamptz(3) not null default now(),
  closed_at timestamptz(3),
  unique (provider_account_id, body_sha256)
);
create index provider_notifications_open on provider_notifications (reference_id) where closed_at is null;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
