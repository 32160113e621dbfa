-- Up Migration

-- Roles (docs/production.md, "Database roles") -----------------------------------------------------------------------

-- They have no login: an operator makes login roles and grants them membership. Roles belong to the whole server, so
-- another database may have created them already.
do $$
declare
  missing text;
begin
  foreach missing in array array['lunas_owner', 'lunas_api', 'lunas_dashboard', 'lunas_worker', 'lunas_payouts',
    'lunas_operator', 'lunas_reader']
  loop
    continue when to_regrole(missing) is not null;
    begin
      execute format('create role %I', missing);
    exception
      when duplicate_object or unique_violation then null; -- a concurrent migration of another database
    end;
  end loop;
  begin
    set local role lunas_owner;
    reset role;
  exception
    when insufficient_privilege then execute format('grant lunas_owner to %I', current_user);
  end;
  if not has_schema_privilege('lunas_owner', current_schema(), 'create') then
    execute format('grant usage, create on schema %I to lunas_owner', current_schema());
  end if;
  execute format(
    'grant usage on schema %I to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_operator, lunas_reader',
    current_schema());
exception
  when insufficient_privilege then
    raise insufficient_privilege using message = format(
      'role %I may not create the roles of Lunas, so an administrator has to do it', current_user);
end $$;

alter table schema_migrations owner to lunas_owner;

-- Everything belongs to the owner, so the grants do not depend on the role that migrates. Only `lunas migrate` connects
-- as a member of it.
set local role lunas_owner;

-- Functions of several tables ----------------------------------------------------------------------------------------

-- As the API prints a timestamp: `2026-11-22T09:30:00.000Z`.
create function iso_utc(at timestamptz) returns text language sql immutable strict parallel safe
  return to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

create function forbid_mutation() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % rejected', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end $$;

-- The installation ---------------------------------------------------------------------------------------------------

-- The environment of this database. The first `lunas migrate` records it after its migrations, for good. Every process
-- and command compares it with its own, so that a sandbox never uses the database of production.
create table installation (
  is_only boolean primary key default true check (is_only), -- at most one row
  environment text not null check (environment in ('sandbox', 'production')),
  recorded_at timestamptz(3) not null default now()
);

create function is_production() returns boolean language sql stable
  return exists (select from installation where environment = 'production');

-- Whether a statement has to prove that two operators decided it: in production, by every login but the owner's, who
-- can drop the triggers.
create function needs_two_operators() returns boolean language sql stable
  return is_production() and not pg_has_role(session_user, 'lunas_owner', 'member');

-- Whether the login is an operator's. In production a second role does not change that. In a sandbox a login may have
-- every role, and writes payments then.
create function acts_as_operator() returns boolean language sql stable
  return pg_has_role(session_user, 'lunas_operator', 'member')
    and case when pg_has_role(session_user, 'lunas_worker', 'member') then needs_two_operators() else true end;

-- Whether what the login writes is the work of a workflow.
create function acts_as_worker() returns boolean language sql stable
  return pg_has_role(session_user, 'lunas_worker', 'member') and not acts_as_operator();

-- Derived keys of old master keys, sealed with the current one: QR links, request fingerprints and hashes that were
-- made with an old master key stay valid after it is gone.
create table retired_keys (
  key_id text not null, -- of the master key
  label text not null, -- of the derivation
  sealed text not null check (split_part(sealed, '.', 2) <> key_id),
  retired_at timestamptz(3) not null default now(),
  primary key (key_id, label)
);

-- Whether a sealed value can be the same under the next master key, whose id is the second part of the text.
-- `lunas keys reseal` first retires the old master key, and one that is retired seals nothing again. So outside of a
-- rotation a sealed value changes to no other text, whatever its key ids are: not there and back in two statements.
create function is_resealed(before text, after text) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select after = before or exists (
      select from retired_keys
      where key_id = split_part(before, '.', 2) and split_part(sealed, '.', 2) = split_part(after, '.', 2)
    ) and not exists (select from retired_keys where key_id = split_part(after, '.', 2));
end;
create trigger only_resealed before update on retired_keys for each row
  when (new.key_id <> old.key_id or new.label <> old.label or not is_resealed(old.sealed, new.sealed))
  execute function forbid_mutation();

-- The timeline of this server. Each promotion of a standby and each restore to a time begins another one. Null where
-- the server does not have the functions, as some services that are compatible with PostgreSQL, and on a standby.
create function postgresql_timeline() returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint;
exception
  when feature_not_supported or object_not_in_prerequisite_state then return null;
end $$;

-- While recovery mode is on, no worker settles or refunds. It is on if it begun after it ended. A worker may begin it,
-- and only an operator ends it. The audit log and the workers' logs have its earlier times.
create table recovery_mode (
  is_only boolean primary key default true check (is_only), -- one row
  -- Of the server when the mode ended. On another timeline, the data may be older than what Lunas has done.
  timeline bigint,
  begun_at timestamptz(3),
  begun_by text,
  reason text,
  ended_at timestamptz(3),
  constraint recovery_mode_begun_by_somebody check (
    (begun_at is null) = (begun_by is null) and (begun_at is null) = (reason is null)
  )
);
insert into recovery_mode (timeline) values (postgresql_timeline());
-- By database role: a worker begins the mode, and only an operator ends it.
alter table recovery_mode enable row level security;
create policy readable on recovery_mode for select using (true);
create policy begin_only on recovery_mode for update to lunas_worker, lunas_payouts
  using (true) with check (begun_at is not null);
create policy begin_and_end on recovery_mode for update to lunas_operator using (true);

-- Merchants and what they may do -------------------------------------------------------------------------------------

-- 40 bits of the SHA-256 of an id, in base 32 (Crockford): the merchant in the paths of the dashboard.
create function merchant_code(id uuid) returns text language sql immutable strict parallel safe
  return (
    select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((bits >> (35 - 5 * digit)) & 31)::integer + 1, 1), ''
      order by digit)
    from (select ('x' || left(encode(sha256(convert_to(id::text, 'utf8')), 'hex'), 10))::bit(40)::bigint as bits) value,
      generate_series(0, 7) as digit
  );

create table merchants (
  id uuid primary key,
  code text not null unique generated always as (merchant_code(id)) stored,
  name text not null check (name <> ''),
  status text not null default 'pending' check (status in ('pending', 'approved', 'suspended')),
  fee_payer text not null default 'merchant' check (fee_payer in ('buyer', 'merchant')),
  providers text[] not null default '{gopay}' check (providers <@ '{gopay,shopeepay}'),
  payment_method_active boolean not null default true,
  created_at timestamptz(3) not null default now(),
  held_at timestamptz(3), -- while it is on hold, nothing of it is settled
  return_url text, -- of the checkout page; null: it has no link back to the shop
  contact text check (char_length(contact) between 1 and 200), -- of the shop; the checkout page shows it
  checkout_origins text[] not null default '{}', -- the origins whose pages may show the checkout page in a frame
  accent text check (accent ~ '^#[0-9a-f]{6}$'), -- the colour of the checkout page; null: that of Lunas
  time_zone text not null default 'Asia/Jakarta' -- of its pages and exports: WIB, WITA or WIT
    check (time_zone in ('Asia/Jakarta', 'Asia/Makassar', 'Asia/Jayapura'))
);

-- The logo on the checkout page, as the dashboard has encoded it. Its address has the hash: anybody may read it.
create table merchant_logos (
  merchant_id uuid primary key references merchants,
  png bytea not null check (octet_length(png) between 1 and 300000),
  width smallint not null check (width between 1 and 256),
  height smallint not null check (height between 1 and 256),
  sha256 bytea not null generated always as (sha256(png)) stored
);
create index merchant_logos_sha256_idx on merchant_logos (sha256);

create table api_keys (
  id uuid primary key,
  merchant_id uuid not null references merchants,
  secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
  prefix text not null,
  last_four text not null,
  allowed_networks cidr[] not null default '{}', -- empty: from anywhere
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  -- Null: every scope.
  scopes text[] check (scopes <> '{}' and scopes <@ array['read', 'create', 'cancel', 'refund', 'customers']),
  expires_at timestamptz(3), -- null: never
  last_used_at timestamptz(3), -- at most one write a minute
  last_used_from inet, -- the caller's address then
  name text check (name <> '' and char_length(name) <= 64), -- what the merchant calls it
  created_by text -- as the actor of a transition; null: the installation
);
create index api_keys_merchant_id_idx on api_keys (merchant_id);

-- What each API key has used of its requests a minute, over all API processes. The columns, their names and order are
-- rate-limiter-flexible's. Unlogged: a minute's counts are not worth the write-ahead log. With room on the page a
-- count is updated in place.
create unlogged table rate_limits (
  key text primary key, -- api_keys.id
  points integer not null,
  expire bigint not null -- Unix time in milliseconds at which the minute ends
) with (fillfactor = 50);

-- The catalog: a change is a new version, and a payment keeps the one that it captured.
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

-- Provider accounts --------------------------------------------------------------------------------------------------

create table provider_accounts (
  id uuid primary key,
  -- `payouts`: our own account at the bank that executes payouts.
  purpose text not null default 'payments' check (purpose in ('payments', 'payouts')),
  provider text check (provider in ('gopay', 'shopeepay')), -- null: an account for payouts serves no payment
  adapter text not null,
  base_url text not null,
  -- Of an account for payouts: the keys that verify the bank's notifications, as JSON. They move no money.
  sealed_server_key text not null,
  -- What the bank has issued, as JSON: it accepts calls with that. Only workers with the role `payouts` read it.
  sealed_credentials text,
  weight integer not null default 1 check (weight > 0),
  -- A proposed account is used for no payment.
  status text not null default 'enabled' check (status in ('proposed', 'enabled', 'disabled')),
  created_at timestamptz(3) not null default now(),
  calls_per_second integer check (calls_per_second > 0), -- null: no limit
  -- Whose account it is: the merchant's national id, which each of its QRs has. Null: not known, so not compared.
  nmid text check (nmid ~ '^ID\d{13}$'),
  key_fingerprint text, -- names the server key; of an account for payouts, what the bank has issued
  -- The server key that waits for its approval, sealed as that in force. A later proposal replaces it.
  proposed_server_key text,
  proposed_key_fingerprint text,
  proposed_nmid text,
  constraint provider_accounts_provider_if_payments check ((purpose = 'payments') = (provider is not null)),
  constraint provider_accounts_credentials_if_payouts check ((purpose = 'payouts') = (sealed_credentials is not null)),
  -- The pairs of `ADAPTERS` (src/providers/adapters.ts): an account is never called with the protocol of the other
  -- purpose.
  constraint provider_accounts_adapter_of_purpose check ((purpose, adapter) in
    (('payments', 'midtrans'), ('payouts', 'snap-midtrans'), ('payouts', 'snap-faspay')))
);
create index provider_accounts_provider_idx on provider_accounts (provider) where status = 'enabled';
create unique index provider_accounts_payouts_key on provider_accounts (purpose)
  where purpose = 'payouts' and status = 'enabled';

-- The worker stops an account whose QRs are those of another merchant, or that changes amounts. It can do nothing else
-- with accounts.
create function stop_provider_account(account_id uuid) returns void
language sql security definer set search_path = public, pg_temp as $$
  update provider_accounts set status = 'disabled' where id = account_id and status = 'enabled'
$$;

-- The time of the next call to each account that has a limit, shared by all processes. A table of its own: it is
-- written at each call, and provider_accounts is read at each payment.
create table provider_call_schedules (
  provider_account_id uuid primary key references provider_accounts,
  next_call_at timestamptz not null
);

-- Payments -----------------------------------------------------------------------------------------------------------

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
  constraint payments_total_is_net_plus_fee check (total_rupiah = net_rupiah + fee_rupiah),
  constraint payments_total_matches_fee_payer
    check (total_rupiah = case fee_payer when 'buyer' then amount_rupiah + fee_rupiah else amount_rupiah end)
) with (
  -- By default autovacuum waits until a fifth of a table has changed: a million rows of five million. In the tables
  -- that grow it waits for a fiftieth and 1,000 rows. Rows of this one, of `webhook_deliveries` and of
  -- `provider_notifications` are updated three or four times within a day.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000
);

-- The QR is the provider's answer to the creation: nobody replaces it by another one.
create trigger issued_once before update of qris_payload, provider_transaction_id on payments for each row
  when ((old.qris_payload is not null and new.qris_payload is distinct from old.qris_payload)
    or (old.provider_transaction_id is not null
      and new.provider_transaction_id is distinct from old.provider_transaction_id))
  execute function forbid_mutation();
-- Operators write a payment only for `lunas recover`, which restores one as its creation began. So none of them invents
-- money or a QR: what the provider returned, and what follows, only the workers write.
create function require_restorable() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if (new.status, new.version) <> ('created', 1) or num_nonnulls(new.paid_at, new.cancelled_at, new.settlement_due_at,
    new.qris_payload, new.provider_transaction_id) > 0 then
    raise exception 'an operator writes a payment only as created' using errcode = 'restrict_violation';
  end if;
  if exists (select from archived_payments where payment_id = new.id or reference_id = new.reference_id) then
    raise exception 'payment % is archived', new.reference_id using errcode = 'restrict_violation';
  end if;
  if exists (select from provider_accounts where id = new.provider_account_id and status = 'proposed') then
    raise exception 'provider account % is not approved', new.provider_account_id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger restored_as_created before insert on payments for each row
  when (acts_as_operator()) execute function require_restorable();

-- Lists are newest first, by (created_at, id). Each filter that few payments may match has an index in the same order,
-- so that a page is read off an index: it is neither sorted, nor searched for among all payments of a merchant.
create index payments_merchant_created_at_idx on payments (merchant_id, created_at desc, id desc);
create index payments_merchant_status_idx on payments (merchant_id, status, created_at desc, id desc);
create index payments_merchant_provider_idx on payments (merchant_id, provider, created_at desc, id desc);
create index payments_merchant_reference_id_idx
  on payments (merchant_id, merchant_reference_id, created_at desc, id desc) where merchant_reference_id is not null;

-- What recovery, reconciliation and the operators' lists read, among any number of rows that are final.
-- `(status || '')` is the status as an expression: a statement about one status is not planned with these indexes by
-- chance.

-- Payments that are open, by provider account: read by `lunas recover` and by reconciliation, page by page.
create index payments_open_idx on payments (provider_account_id, id)
  where (status || '') in ('created', 'pending', 'paid', 'refund_processing', 'refund_failed');
-- Payments that became final, by provider account and time. An index entry is written once for each payment.
create index payments_final_idx on payments (provider_account_id, updated_at, id)
  where (status || '') in ('expired', 'settled', 'failed', 'cancelled', 'refunded');
-- The operators' list, of all merchants, by status. The list of all statuses merges the heads of ten ranges. The time
-- is an expression, so that the planner does not search it for the list of one merchant, who may have nothing new in
-- years.
create index payments_status_idx on payments ((status || ''), (created_at at time zone 'utc') desc, id desc);
-- Payments by the time at which a timer should move them on: the overdue ones come first, however many there are.
create index payments_expiring_idx on payments (expires_at) where (status || '') = 'pending';
create index payments_settling_idx on payments (settlement_due_at)
  where (status || '') = 'paid' and settlement_kind = 'automatic';
-- What waits for an operator, among millions that do not.
create index payments_due_settlement_idx on payments (merchant_id, settlement_due_at)
  where status = 'paid' and settlement_kind = 'manual';

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
-- The ids of the master keys in use, for the check at the start of every process.
create index payment_details_key_id_idx on payment_details (split_part(sealed, '.', 2));
create trigger only_resealed before update of sealed on payment_details for each row
  when (not is_resealed(old.sealed, new.sealed)) execute function forbid_mutation();
-- Retention reads the oldest rows of a table in the order of such an index. A BRIN index is useless after the first
-- deletion: new rows use the freed pages, and a page range never shrinks by itself.
create index payment_details_retention_idx on payment_details (created_at, payment_id, fingerprint);

create table payment_transitions (
  payment_id uuid not null references payments,
  version integer not null check (version > 0),
  name text not null,
  from_status text,
  to_status text not null,
  occurred_at timestamptz(3) not null,
  actor text not null,
  note text,
  -- When PostgreSQL recorded it, by its own clock. `occurred_at` is the business timestamp of the step and may be hours
  -- older, so it cannot show what is new.
  recorded_at timestamptz(3) not null default now(),
  -- Of the request to the API that the transition belongs to. Null: there was none.
  request_id text,
  traceparent text,
  -- The order in which PostgreSQL recorded it, among those of all payments. A clock may go back; this does not. Totals
  -- count by it (payment-totals.ts).
  number bigint generated always as identity,
  primary key (payment_id, version)
) with (
  -- Rows are only added, and deleted by retention or the archive. Vacuum freezes the new pages and marks them as all
  -- visible soon after they are written, while they are in memory, and not all together years later.
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);
create trigger restored_as_created before insert on payment_transitions for each row
  when ((new.version, new.to_status) <> (1, 'created') and acts_as_operator()) execute function forbid_mutation();
create index payment_transitions_recorded_at_idx on payment_transitions (recorded_at, payment_id);
create index payment_transitions_number_idx on payment_transitions (number);
-- For `lunas payments show REQUEST_ID`: only the transitions that a request caused itself.
create index payment_transitions_request_id_idx on payment_transitions (request_id)
  where request_id is not null and (version = 1 or actor <> 'workflow');

-- The refunds of a payment, one at a time. A refund that was rejected or cancelled is followed by one with a new key.
-- However often a refund is tried, its key is the same. Twenty are the limit for what merchants and operators request;
-- one that the provider has made counts on, because the row has to be written, whatever its number.
create table refunds (
  payment_id uuid not null references payments,
  number smallint not null check (number >= 1),
  refund_key text not null unique, -- what the provider knows it by
  amount_rupiah bigint not null check (amount_rupiah > 0),
  status text not null check (status in ('held', 'submitted', 'confirmed', 'rejected', 'cancelled')),
  requested_at timestamptz(3) not null,
  submit_at timestamptz(3) not null, -- until then it can be cancelled
  submitted_at timestamptz(3), -- committed before the provider is asked for the first time; from then on it cannot
  finished_at timestamptz(3),
  provider_reference text,
  failure_reason text,
  -- An operator recorded that the customer has the money back by another way than the provider's refund.
  is_manual boolean not null default false,
  -- `provider`: Lunas has only seen the refund at the provider, and never requests it.
  requested_by text not null default 'lunas' check (requested_by in ('lunas', 'provider')),
  primary key (payment_id, number),
  constraint refunds_finished_if_final
    check ((status in ('confirmed', 'rejected', 'cancelled')) = (finished_at is not null)),
  constraint refunds_submitted_at_if_submitted check ((status in ('held', 'cancelled')) = (submitted_at is null)),
  constraint refunds_failure_reason_if_rejected check (status <> 'rejected' or failure_reason is not null)
);
create unique index refunds_open_key on refunds (payment_id) where status in ('held', 'submitted');
-- Refunds that the provider has not confirmed. One that it rejected is found by the payment, which is `refund_failed`.
create index refunds_submitted_at_idx on refunds (submitted_at) where status = 'submitted';

-- Money that came for a payment after its end (`expired`, `cancelled`, `failed`). It is in suspense until the customer
-- has it back. If the provider cannot give it back, an operator does (`manual_review`, with an exception).
create table late_payments (
  payment_id uuid primary key references payments,
  merchant_id uuid not null references merchants,
  total_rupiah bigint not null check (total_rupiah > 0), -- what the provider has received
  provider_transaction_id text not null,
  paid_at timestamptz(3) not null,
  status text not null check (status in ('received', 'submitted', 'refunded', 'manual_review')),
  received_at timestamptz(3) not null,
  submitted_at timestamptz(3), -- committed before the provider is asked for the first time
  finished_at timestamptz(3),
  refund_key text not null unique,
  provider_reference text,
  failure_reason text,
  is_manual boolean not null default false, -- as for a refund
  constraint late_payments_finished_if_final
    check ((status in ('refunded', 'manual_review')) = (finished_at is not null)),
  constraint late_payments_failure_reason_if_manual_review
    check (status <> 'manual_review' or failure_reason is not null)
);
-- Late payments whose refund is not final, page by page.
create index late_payments_open_idx on late_payments (payment_id) where status in ('received', 'submitted');

-- The ledger ---------------------------------------------------------------------------------------------------------

-- A posting books a transition of a payment, a step of a late payment, or a transition of a payout, once.
create table ledger_postings (
  id bigint generated always as identity primary key,
  payment_id uuid,
  payment_version integer,
  payout_id uuid,
  payout_version integer,
  merchant_id uuid not null references merchants,
  occurred_at timestamptz(3) not null,
  late_payment_step text check (late_payment_step in ('receive', 'refund', 'refund_manually')),
  unique (payment_id, payment_version),
  unique (payment_id, late_payment_step),
  foreign key (payment_id, payment_version) references payment_transitions,
  constraint ledger_postings_has_one_source check (
    num_nonnulls(payment_version, late_payment_step, payout_version) = 1
    and num_nonnulls(payment_id, payout_id) = 1 and (payout_id is null) = (payout_version is null)
  )
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);
-- A posting of a payment costs nothing here.
create unique index ledger_postings_payout_key on ledger_postings (payout_id, payout_version)
  where payout_id is not null;

-- `payout_in_transit`: reserved for payouts that the bank has not executed.
-- `cash`: a refund that an operator made by another way than the provider's, such as a bank transfer, is paid from our
-- own bank account.
create table ledger_entries (
  posting_id bigint not null references ledger_postings,
  line smallint not null,
  account text not null check (account in ('provider_receivable', 'merchant_pending', 'merchant_available',
    'fee_revenue', 'suspense', 'cash', 'payout_in_transit')),
  side text not null check (side in ('debit', 'credit')),
  amount_rupiah bigint not null check (amount_rupiah > 0),
  primary key (posting_id, line)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);

-- Both run at the end of the statement that wrote the posting, when its entries are there too. These triggers and the
-- functions of the owner use the tables of this schema, also if their caller has temporary tables of the same names:
-- so each of them has a search_path.
create function require_entries() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  posting bigint;
begin
  select id into posting from written where not exists (select from ledger_entries where posting_id = written.id);
  if found then
    raise exception 'ledger posting % has no entries', posting using errcode = 'check_violation';
  end if;
  return null;
end $$;
create trigger has_entries after insert on ledger_postings referencing new table as written
  for each statement execute function require_entries();

-- Entries belong to the posting of their own transaction, whatever role writes them: one that has committed gets no
-- more. `xmin` is the transaction that wrote a row, and no statement sets it. A writer uses no savepoint, which would
-- have a number of its own. One trigger for each statement takes as long as one without this check for each row did.
create function require_balanced_posting() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  wrong record;
begin
  for wrong in
    select written.posting_id as id,
      (select sum(case side when 'debit' then amount_rupiah else -amount_rupiah end)
        from ledger_entries where posting_id = written.posting_id) as balance,
      (select xmin = pg_current_xact_id()::xid from ledger_postings where id = written.posting_id) as is_own
    from (select distinct posting_id from written) written
  loop
    if wrong.is_own is not true then
      raise exception 'ledger posting % is not of this transaction: it gets no more entries', wrong.id
        using errcode = 'restrict_violation';
    elsif wrong.balance <> 0 then
      raise exception 'ledger posting % is off by % rupiah', wrong.id, wrong.balance using errcode = 'check_violation';
    end if;
  end loop;
  return null;
end $$;
create trigger balanced after insert on ledger_entries referencing new table as written
  for each statement execute function require_balanced_posting();

-- By database role: the API and operators book the manual refund of a late payment (`manual_refunds`), and only the
-- workers transitions, each its own.
alter table ledger_postings enable row level security;
create policy every_posting_readable on ledger_postings for select
  to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_operator, lunas_reader using (true);
create policy postings_of_payments on ledger_postings for insert to lunas_worker with check (payout_id is null);
create policy postings_of_payouts on ledger_postings for insert to lunas_payouts with check (payout_id is not null);

-- Verifications of the ledger without breaks. The next incremental one starts where the newest of them ended.
create table ledger_verifications (
  id bigint generated always as identity primary key,
  verified_at timestamptz(3) not null default now(),
  is_full boolean not null, -- all payments, not only those that changed
  recorded_until timestamptz(3) not null, -- every transition recorded before is verified
  posting_id bigint not null, -- every posting up to this id is verified, and counted in the balances
  balances jsonb not null -- [{ account, debitRupiah, creditRupiah }]
);

-- The result of each `lunas ledger verify`, also of one that found breaks.
create table ledger_verification_results (
  id bigint generated always as identity primary key,
  verified_at timestamptz(3) not null default now(),
  is_full boolean not null,
  break_count bigint not null check (break_count >= 0)
);
create index ledger_verification_results_full_idx on ledger_verification_results (id) where is_full;

-- Balance ------------------------------------------------------------------------------------------------------------

-- The booking day of a timestamp: its day in Western Indonesian Time (WIB), as at a bank.
create function booking_day(at timestamptz) returns date language sql immutable strict parallel safe
  return (at at time zone 'Asia/Jakarta')::date;

-- One row, a line, for each change of a merchant's available balance, which is the sum of its lines. A line stays for
-- good, also when the archive takes the posting: so it has no foreign key to postings or payments. The posting has
-- that to the merchant.
create table balance_transactions (
  posting_id bigint primary key,
  merchant_id uuid not null,
  kind text not null check (kind in ('settlement', 'refund_fee', 'payout', 'payout_cancelled', 'payout_failed',
    'payout_returned', 'payout_conflict')),
  amount_rupiah bigint not null check (amount_rupiah <> 0), -- above zero: the balance grows
  payment_id uuid,
  source_payout_id uuid,
  occurred_at timestamptz(3) not null, -- the business timestamp of the posting
  booked_on date not null, -- the day on which PostgreSQL recorded it
  confirmed_at timestamptz(3), -- the acquirer has reported it as paid
  payout_id uuid, -- null until a payout claims the line
  constraint balance_transactions_has_one_source check (num_nonnulls(payment_id, source_payout_id) = 1)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);
create index balance_transactions_day_idx on balance_transactions (merchant_id, booked_on, posting_id);
create index balance_transactions_unclaimed_idx on balance_transactions (merchant_id, posting_id)
  where payout_id is null;
-- A line that is not claimed costs nothing here.
create index balance_transactions_payout_idx on balance_transactions (payout_id, posting_id)
  where payout_id is not null;

-- A payout claims a line once, and the acquirer confirms it once. Nothing else of a line changes.
create trigger append_only before update on balance_transactions for each row
  when (
    (old.posting_id, old.merchant_id, old.kind, old.amount_rupiah, old.payment_id, old.source_payout_id,
      old.occurred_at, old.booked_on)
    is distinct from (new.posting_id, new.merchant_id, new.kind, new.amount_rupiah, new.payment_id,
      new.source_payout_id, new.occurred_at, new.booked_on)
    or (old.payout_id is not null and new.payout_id is distinct from old.payout_id)
    or (old.confirmed_at is not null and new.confirmed_at is distinct from old.confirmed_at)
  ) execute function forbid_mutation();
create trigger append_only_delete before delete on balance_transactions for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on balance_transactions execute function forbid_mutation();

-- Every day up to the newest row has ended: no line is booked on one.
create table ended_days (day date primary key);

-- Every day up to the newest row is closed: it has ended, and its sums are in `balance_days`.
create table closed_days (
  day date primary key,
  closed_at timestamptz(3) not null default now()
);

-- The balance of a merchant at the end of a closed day that has lines, and the sums of these.
create table balance_days (
  merchant_id uuid not null references merchants,
  day date not null references closed_days,
  closing_rupiah bigint not null,
  credit_rupiah bigint not null check (credit_rupiah >= 0),
  debit_rupiah bigint not null check (debit_rupiah >= 0),
  line_count bigint not null check (line_count > 0),
  primary key (merchant_id, day)
);

-- Sums of the counted lines of days that are not closed. The worker adds new lines every few seconds
-- (open-balance-days.ts), so that a balance reads few lines: the newest closing, these sums, and what is not counted.
-- A day is closed from them, too.
create table open_balance_days (
  merchant_id uuid not null references merchants,
  day date not null,
  credit_rupiah bigint not null check (credit_rupiah >= 0),
  debit_rupiah bigint not null check (debit_rupiah >= 0),
  line_count bigint not null check (line_count > 0),
  primary key (merchant_id, day)
);

-- Books the line of an entry, for every writer of the ledger, as the owner: no role may insert a line. The line is what
-- the transition of the posting implies, and a posting that says otherwise is rejected. The insert waits while a day
-- ends, and reads `ended_days` after that. A posting of a payment is looked for first: most are of one. The line of a
-- request belongs to its payout, which has claimed its lines by then: all of one payout together are zero. That of a
-- payout without lines stays in the balance. No request takes more than the balance, also if several of a merchant
-- commit together: the lock orders them, and the statement after it has a new snapshot.
create function book_balance_transaction() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  change constant bigint := case new.side when 'credit' then new.amount_rupiah else -new.amount_rupiah end;
  booked balance_transactions;
begin
  insert into balance_transactions
    (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
  select posting.id, payment.merchant_id, case to_status when 'settled' then 'settlement' else 'refund_fee' end, change,
    payment.id, posting.occurred_at, greatest(booking_day(now()), (select max(day) + 1 from ended_days))
  from ledger_postings posting
    join payment_transitions transition
      on transition.payment_id = posting.payment_id and transition.version = posting.payment_version
    join payments payment on payment.id = posting.payment_id and payment.merchant_id = posting.merchant_id
  where posting.id = new.posting_id
    and case to_status when 'settled' then net_rupiah when 'refunded' then -fee_rupiah end = change;
  if found then
    return null;
  end if;
  insert into balance_transactions
    (posting_id, merchant_id, kind, amount_rupiah, source_payout_id, occurred_at, booked_on, payout_id)
  select posting.id, payout.merchant_id,
    case to_status when 'requested' then 'payout' when 'completed' then 'payout_conflict'
      else 'payout_' || to_status end,
    change, payout.id, posting.occurred_at, greatest(booking_day(now()), (select max(day) + 1 from ended_days)),
    case when to_status = 'requested' and line_count > 0 then payout.id end
  from ledger_postings posting
    join payout_transitions transition
      on transition.payout_id = posting.payout_id and transition.version = posting.payout_version
    join payouts payout on payout.id = posting.payout_id and payout.merchant_id = posting.merchant_id
  where posting.id = new.posting_id and change = case
    when to_status in ('cancelled', 'failed') then gross_rupiah
    when to_status = 'returned' then payout.amount_rupiah
    when to_status = 'requested' or (from_status = 'failed' and to_status = 'completed') then -gross_rupiah
  end
  returning * into booked;
  if not found then
    raise exception 'ledger posting % changes a balance, and its transition does not', new.posting_id
      using errcode = 'check_violation';
  end if;
  if booked.payout_id is not null and exists (
    select from balance_transactions line where line.payout_id = booked.payout_id
    having sum(amount_rupiah) <> 0 or bool_or(merchant_id <> booked.merchant_id)
  ) then
    raise exception 'payout % does not pay its lines', booked.payout_id using errcode = 'check_violation';
  end if;
  if booked.kind = 'payout' and exists (select from payouts where id = booked.source_payout_id and not is_rebuilt) then
    perform pg_advisory_xact_lock(hashtextextended('payouts of ' || booked.merchant_id, 0));
    if available_balance(booked.merchant_id) < 0 then
      raise exception 'payout % is more than the balance', booked.source_payout_id using errcode = 'check_violation';
    end if;
  end if;
  return null;
end $$;
create trigger balance_transaction after insert on ledger_entries for each row
  when (new.account = 'merchant_available') execute function book_balance_transaction();

-- Ends all days up to this one: the lock waits for each transaction that has booked a line, and holds back the next,
-- which books on the day after. Nothing else happens under the lock: it takes as long at a hundred million lines. Two
-- seconds suffice for autovacuum to give way, which it does after one; a longer wait would hold settlements back, so
-- the caller repeats the call instead.
create function end_days_until(last_day date) returns void
language plpgsql set search_path = public, pg_temp set lock_timeout = '2s' as $$
begin
  if last_day <= (select max(day) from ended_days) then return; end if;
  lock table balance_transactions in share row exclusive mode;
  insert into ended_days (day) values (last_day) on conflict do nothing;
end $$;

-- Ends the days that were over at least 25 minutes ago by the clock of PostgreSQL, and before `today` by the clock of
-- the caller: a clock that is ahead ends no day. The 25 minutes are for a server with a slow clock that takes over:
-- its lines are still booked on their day. The schedule begins five minutes later, so a clock that is behind Temporal's
-- does not leave the day open until the next one.
create function end_days(today date) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform end_days_until(least(booking_day(now() - interval '25 minutes'), today) - 1);
end $$;

-- Closes the first day that has ended and is not closed, and returns it; null: there is none. It needs no lock of the
-- lines, because the day has all of its lines. It reads the few that are not counted yet, which the counting of lines
-- waits for. The upper bound of their range is for the planner: it expects few rows.
create function close_next_day() returns date
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  counted bigint;
  last_ended date;
  next_day date;
begin
  select line_posting_id into strict counted from totals_progress for update;
  select max(day) into last_ended from ended_days;
  next_day := coalesce((select max(day) + 1 from closed_days), least(last_ended,
    (select min(day) from open_balance_days),
    (select min(booked_on) from balance_transactions where posting_id > counted and posting_id < 9007199254740991)));
  if next_day <= last_ended is not true then return null; end if;

  insert into closed_days (day) values (next_day);
  insert into balance_days (merchant_id, day, closing_rupiah, credit_rupiah, debit_rupiah, line_count)
  select change.merchant_id, next_day, coalesce(before.closing_rupiah, 0) + credit_rupiah - debit_rupiah,
    credit_rupiah, debit_rupiah, line_count
  from (
    select merchant_id, sum(credit_rupiah)::bigint as credit_rupiah, sum(debit_rupiah)::bigint as debit_rupiah,
      sum(line_count)::bigint as line_count
    from (
      select merchant_id, credit_rupiah, debit_rupiah, line_count from open_balance_days where day = next_day
      union all
      select merchant_id, greatest(amount_rupiah, 0), greatest(-amount_rupiah, 0), 1 from balance_transactions
      where posting_id > counted and posting_id < 9007199254740991 and booked_on = next_day
    ) part
    group by merchant_id
  ) change
  left join lateral (
    select closing_rupiah from balance_days
    where balance_days.merchant_id = change.merchant_id and day < next_day order by day desc limit 1
  ) before on true;
  delete from open_balance_days where day <= next_day;
  return next_day;
end $$;

-- Webhooks -----------------------------------------------------------------------------------------------------------

create table webhook_endpoints (
  id uuid primary key,
  merchant_id uuid not null references merchants,
  url text not null,
  events text[], -- null: every event of payments
  -- What it adds to the bodies of payments and late payments, as `?expand=` does.
  expand text[] not null default '{}' check (expand <@ array['metadata', 'customer', 'checkout_url', 'qris',
    'expires_at', 'refund', 'late_payment', 'failure_reason', 'settlement']),
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  created_at timestamptz(3) not null default now(),
  -- After too many failures in a row its deliveries wait for it, and one of them is sent as a probe from time to time.
  consecutive_failures integer not null default 0 check (consecutive_failures >= 0),
  failing_since timestamptz(3), -- of the first failure after the last success
  next_probe_at timestamptz(3), -- set: its deliveries wait, and no probe is sent before then
  -- Grows with each claim of its deliveries, so that a claim notices another one that ended meanwhile.
  claim_number bigint not null default 0,
  deleted_at timestamptz(3), -- permanent: only its events and deliveries stay, as history
  constraint webhook_endpoints_disabled_if_deleted check (deleted_at is null or status = 'disabled'),
  constraint webhook_endpoints_failing_since_if_failing
    check ((consecutive_failures > 0) = (failing_since is not null)),
  constraint webhook_endpoints_next_probe_if_failing check (next_probe_at is null or consecutive_failures > 0)
);
create index webhook_endpoints_merchant_id_idx on webhook_endpoints (merchant_id);

create table webhook_secrets (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints,
  sealed_secret text not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) -- set when a newer one replaces it
);
create index webhook_secrets_endpoint_id_idx on webhook_secrets (endpoint_id);
create trigger only_resealed before update of sealed_secret on webhook_secrets for each row
  when (not is_resealed(old.sealed_secret, new.sealed_secret)) execute function forbid_mutation();

create table webhook_events (
  payment_id uuid not null,
  payment_version integer not null,
  event text not null,
  body text not null, -- the very bytes that are signed and sent
  occurred_at timestamptz(3) not null,
  -- The order in which `lunas listen` reads. Transactions do not commit in the order of any number that they take. So a
  -- reader takes only what is older than every transaction in progress, and a cursor passes no event that comes later.
  recorded_xid xid8 not null default pg_current_xact_id(),
  primary key (payment_id, payment_version),
  foreign key (payment_id, payment_version) references payment_transitions
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);
create index webhook_events_recorded_xid_idx on webhook_events (recorded_xid);
create index webhook_events_retention_idx on webhook_events (occurred_at, payment_id, payment_version);

-- Retention deletes old events. Young ones stay, since deliveries need their bytes.
create trigger append_only_delete before delete on webhook_events for each row
  when (old.occurred_at > now() - interval '7 days') execute function forbid_mutation();

-- The events of late payments. An endpoint receives them only if it lists them. They have versions of their own, above
-- any version of the payment: an event is identified by the id of its payment and its version.
create table late_payment_events (
  payment_id uuid not null references late_payments,
  late_payment_version integer not null check (late_payment_version > 1000000),
  event text not null,
  body text not null, -- the very bytes that are signed and sent
  occurred_at timestamptz(3) not null,
  recorded_xid xid8 not null default pg_current_xact_id(), -- as that of `webhook_events`
  primary key (payment_id, late_payment_version)
);
create index late_payment_events_recorded_xid_idx on late_payment_events (recorded_xid);

-- The foreign key to `payout_events` is where that table is.
create table webhook_deliveries (
  id uuid primary key,
  payment_id uuid,
  payment_version integer,
  late_payment_version integer,
  payout_id uuid,
  payout_version integer,
  endpoint_id uuid not null references webhook_endpoints,
  merchant_id uuid not null references merchants,
  -- That of the event, so that a list with this filter does not read 2,000 events. An index would add 17 % of WAL to a
  -- claim.
  event text not null,
  status text not null check (status in ('pending', 'delivered', 'dead')),
  dead_reason text,
  attempts_total integer not null default 0,
  leased_until timestamptz(3) not null default '-infinity', -- a relay has it in hand until then
  retry_workflow_started_at timestamptz(3), -- its retries are a workflow's from then on
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  attempts_in_cycle integer not null default 0, -- of the twelve; a redelivery begins anew
  queued_at timestamptz(3) not null default now(), -- when it became pending, for the first time or again
  redelivered_xid xid8, -- of the last redelivery that an operator requested, as recorded_xid of an event
  unique (payment_id, payment_version, endpoint_id),
  foreign key (payment_id, payment_version) references webhook_events,
  foreign key (payment_id, late_payment_version) references late_payment_events,
  constraint webhook_deliveries_has_one_subject check (
    num_nonnulls(payment_version, late_payment_version, payout_version) = 1
    and num_nonnulls(payment_id, payout_id) = 1 and (payout_id is null) = (payout_version is null)
  ),
  constraint webhook_deliveries_finished_unless_pending check ((status = 'pending') = (finished_at is null)),
  constraint webhook_deliveries_dead_reason_if_dead check ((status = 'dead') = (dead_reason is not null))
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000
);
create unique index webhook_deliveries_late_payment_key
  on webhook_deliveries (payment_id, late_payment_version, endpoint_id) where late_payment_version is not null;
create unique index webhook_deliveries_payout_key on webhook_deliveries (payout_id, payout_version, endpoint_id)
  where payout_id is not null;
-- What the relay has to send, endpoint by endpoint; and what retry workflows have to send. Two indexes instead of one,
-- so that a claim does not read endpoints for which only retries are pending. Each pending delivery is in one of both.
-- The id orders deliveries with the same queued_at. Without it they are in the order of their rows on disk, which a
-- lease can change: a claim would not see all leases, and take more than the limit.
create index webhook_deliveries_outbox_order_idx on webhook_deliveries (endpoint_id, queued_at, id)
  where status = 'pending' and retry_workflow_started_at is null;
create index webhook_deliveries_retry_workflow_idx on webhook_deliveries (endpoint_id, id)
  where status = 'pending' and retry_workflow_started_at is not null;
-- Dead deliveries, to be redelivered by a range of time.
create index webhook_deliveries_dead_idx on webhook_deliveries (created_at, id) where status = 'dead';
create index webhook_deliveries_merchant_dead_idx on webhook_deliveries (merchant_id, created_at desc, id desc)
  where status = 'dead';
create index webhook_deliveries_created_at_idx on webhook_deliveries (created_at desc, id desc);
create index webhook_deliveries_merchant_created_at_idx on webhook_deliveries (merchant_id, created_at desc, id desc);
create index webhook_deliveries_redelivered_xid_idx on webhook_deliveries (redelivered_xid)
  where redelivered_xid is not null;

-- The sealed details of a payment, for a delivery to an endpoint of the same merchant that adds them; else null. It is
-- all that the worker can read of them.
create function webhook_details(id_of_delivery uuid) returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select details.sealed
  from webhook_deliveries delivery
  join payments on payments.id = delivery.payment_id
  join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
    and endpoint.merchant_id = payments.merchant_id and endpoint.expand && array['metadata', 'customer']
  join payment_details details on details.payment_id = payments.id and details.fingerprint = payments.fingerprint
  where delivery.id = id_of_delivery
$$;

-- The statement that receives or refunds a late payment writes its event and deliveries by this trigger. An operator's
-- API books manual refunds, and has no right to write deliveries.
create function record_late_payment_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  name text := 'late_payment.' || new.status;
  number integer := case new.status when 'received' then 1000001 else 1000002 end;
  at timestamptz(3) := coalesce(new.finished_at, new.received_at);
begin
  insert into late_payment_events (payment_id, late_payment_version, event, body, occurred_at)
  select payment_id, number, name, row_to_json(body)::text, at
  from (
    select name as event, new.payment_id, reference_id, merchant_reference_id, new.status,
      (select environment from installation) as environment, new.total_rupiah as amount, currency, payment_method,
      provider, iso_utc(new.paid_at) as paid_at, iso_utc(new.received_at) as created_at, iso_utc(at) as updated_at
    from payments where id = new.payment_id
  ) body;
  insert into webhook_deliveries
    (id, payment_id, late_payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), new.payment_id, number, endpoint.id, new.merchant_id, name,
    case endpoint.status when 'enabled' then 'pending' else 'dead' end,
    case endpoint.status when 'disabled' then 'endpoint_disabled' end,
    case endpoint.status when 'disabled' then now() end
  from webhook_endpoints endpoint
  where endpoint.merchant_id = new.merchant_id and endpoint.deleted_at is null and name = any (endpoint.events);
  return null;
end $$;
create trigger event_of_receipt after insert on late_payments
  for each row when (new.status = 'received') execute function record_late_payment_event();
create trigger event_of_refund after update of status on late_payments
  for each row when (new.status = 'refunded' and old.status <> 'refunded') execute function record_late_payment_event();

create table webhook_attempts (
  delivery_id uuid not null references webhook_deliveries,
  number integer not null check (number > 0),
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  status_code integer,
  failure text,
  response_excerpt text,
  primary key (delivery_id, number)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);

-- Notifications of providers -----------------------------------------------------------------------------------------

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
  unique (provider_account_id, body_sha256)
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000
);
create unique index provider_notifications_dedupe_key
  on provider_notifications (provider_account_id, reference_id, dedupe_key_sha256) where dedupe_key_sha256 is not null;
create index provider_notifications_open_idx on provider_notifications (reference_id) where closed_at is null;
create index provider_notifications_due_idx on provider_notifications (next_notify_at) where closed_at is null;
create index provider_notifications_retention_idx on provider_notifications (received_at, id);
-- `lunas customers erase` finds the notifications of one order.
create index provider_notifications_order_idx on provider_notifications (provider_account_id, reference_id);

-- Exceptions and reconciliation --------------------------------------------------------------------------------------

-- What no rule decides: a case for a person. Nothing here is ever deleted.
create table exceptions (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('late_payment', 'wrong_amount', 'unknown_order', 'paid_twice',
    'refunded_after_settlement', 'reconciliation', 'foreign_qris', 'changed_amount', 'payout_conflict',
    'payout_amount', 'payout_source_balance', 'unknown_payout', 'lost_payout')),
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

-- Orders whose status the provider did not return in one or more runs of reconciliation in succession.
create table indeterminate_orders (
  payment_id uuid primary key references payments on delete cascade,
  run_count integer not null default 1 check (run_count > 0),
  last_run_at timestamptz(3) not null default now()
);

-- Operators and the audit log ----------------------------------------------------------------------------------------

-- A name is free again once its key is revoked.
create table operators (
  id uuid primary key,
  name text not null check (name <> ''),
  secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
  prefix text not null,
  last_four text not null,
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  allowed_networks cidr[] not null default '{}', -- empty: from anywhere
  -- Null: every scope.
  scopes text[] check (scopes <> '{}'
    and scopes <@ array['read', 'settle', 'fail', 'refund', 'resolve', 'redeliver', 'payout']),
  expires_at timestamptz(3), -- null: never
  is_approved boolean not null default true, -- the key of a proposed operator is not accepted
  created_by uuid references operators (id), -- nobody decides for one whom the same person created; null: the first one
  -- The person's login of PostgreSQL, with which alone this operator decides in production. Null: it decides nothing. A
  -- key with scopes may have that of its person. It never changes.
  login name check (login <> ''),
  secret_login name not null default session_user -- the login that has set the key, and has seen it; no role writes it
);
create unique index operators_active_name_key on operators (name) where revoked_at is null;
create unique index operators_active_login_key on operators (login) where revoked_at is null and scopes is null;

-- The audit log: written before an operator's action begins, so that none is missing; its outcome follows. An action
-- without an outcome is one whose process ended, or whose database was away by then.
create table operator_actions (
  id bigint generated always as identity primary key,
  actor text not null, -- who: `cli:<user of the machine>`, or `operator:<name>`
  -- The door: through which process, or a function of the database.
  via text not null check (via in ('cli', 'api', 'dashboard', 'console', 'database')),
  operator_id uuid references operators, -- a command that runs with an operator key has its operator too
  action text not null,
  target text not null,
  note text, -- why
  requested_at timestamptz(3) not null default clock_timestamp(),
  detail text, -- the parameters of a command, as JSON: what was created or changed
  constraint operator_actions_operator_id_unless_cli check (via in ('cli', 'database') or operator_id is not null)
);
create index operator_actions_target_idx on operator_actions (target, id desc);

create table operator_action_outcomes (
  action_id bigint primary key references operator_actions,
  outcome text not null check (outcome in ('succeeded', 'rejected', 'indeterminate')),
  detail text, -- why it was rejected, or is indeterminate
  finished_at timestamptz(3) not null default clock_timestamp()
);

-- The hash chain of the audit log: one entry for each row of the two tables, in the order of their commits.
create table audit_chain (
  position bigint primary key check (position > 0),
  kind text not null check (kind in ('action', 'outcome')),
  action_id bigint not null,
  -- The login of PostgreSQL that wrote the row. It cannot be given, so a row in the name of another operator shows it.
  login name not null default session_user,
  hash bytea not null check (octet_length(hash) = 32),
  unique (kind, action_id)
);

-- What a writer of the hash chain locks, until it has committed. Any role can take an advisory lock, so one that only
-- reads could stop every audited act. Only the owner, as which the triggers run, can lock this row.
create table audit_chain_lock (is_only boolean primary key default true check (is_only)); -- one row
insert into audit_chain_lock default values;

-- The content that an entry's hash covers. `lunas audit verify` computes it again, outside the database.
create function audit_content(action operator_actions) returns text language sql stable
  return jsonb_build_array(action.id, action.actor, action.via, action.operator_id, action.action, action.target,
    action.note, action.detail, iso_utc(action.requested_at))::text;
create function audit_content(outcome operator_action_outcomes) returns text language sql stable
  return jsonb_build_array(outcome.action_id, outcome.outcome, outcome.detail, iso_utc(outcome.finished_at))::text;

-- The lock orders concurrent writers until each has committed. The statement after it sees the newest entry: a function
-- that is volatile takes a new snapshot for each statement.
create function append_to_audit_chain(kind text, action_id bigint, content text) returns void
language plpgsql as $$
begin
  perform from audit_chain_lock for update;
  if not found then raise exception 'audit_chain_lock has no row'; end if;
  insert into audit_chain (position, kind, action_id, hash)
  select coalesce(max(position), 0) + 1, $1, $2, sha256(
    coalesce((select hash from audit_chain order by position desc limit 1), '')
    || convert_to($1 || $3 || session_user, 'utf8'))
  from audit_chain;
end $$;

-- Only these write the hash chain, as the owner.
create function chain_action() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform append_to_audit_chain('action', new.id, audit_content(new));
  return null;
end $$;
create function chain_outcome() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform append_to_audit_chain('outcome', new.action_id, audit_content(new));
  return null;
end $$;
create trigger audit_chain after insert on operator_actions for each row execute function chain_action();
create trigger audit_chain after insert on operator_action_outcomes for each row execute function chain_outcome();

-- Approvals ----------------------------------------------------------------------------------------------------------

-- Actions that need a second operator in production. A row waits until another operator approves or rejects it, or it
-- expires. Only an approved action is executed, with the parameters of its row.
create table approvals (
  id bigint generated always as identity primary key,
  action text not null,
  target text not null, -- what an operator reads: a payment, a provider account, a policy
  parameters jsonb not null,
  note text not null,
  requested_by uuid not null references operators (id),
  requested_login name not null default session_user, -- of PostgreSQL: no role can write it
  requested_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null default now() + interval '24 hours',
  status text not null default 'pending' check (status in ('pending', 'approved', 'executed', 'failed', 'rejected')),
  decided_by uuid references operators (id),
  decided_login name, -- a trigger writes it
  decided_at timestamptz(3),
  -- A process that executes the action has it until then. Afterwards its approval can be repeated.
  leased_until timestamptz(3),
  failure_reason text,
  -- What it moves, for the operator who decides. Null: it moves no amount, or the amount is not known.
  amount_rupiah bigint,
  -- The version of the policy, or the id of the limit, that was in force at the request. A newer one is never replaced.
  expected_version bigint,
  constraint approvals_two_operators check (decided_by <> requested_by),
  constraint approvals_decided check (
    (status = 'pending') = (decided_by is null) and (decided_by is null) = (decided_at is null)
  )
);
create index approvals_pending on approvals (expires_at) where status = 'pending';

-- What was requested never changes. A request is executed, failed or rejected once.
create trigger request_is_final
  before update of id, action, target, parameters, note, requested_by, requested_login, requested_at, expires_at
  on approvals for each row execute function forbid_mutation();
create trigger comparison_is_final before update of amount_rupiah, expected_version on approvals
  for each row execute function forbid_mutation();
create trigger outcome_is_final before update on approvals
  for each row when (old.status in ('executed', 'failed', 'rejected')) execute function forbid_mutation();

-- A request is decided before it is executed, and its decision is final.
create function record_decision() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.status in ('executed', 'failed') then
    if old.status <> 'approved' or new.decided_by is distinct from old.decided_by then
      raise exception 'request % is not approved', new.id using errcode = 'restrict_violation';
    end if;
  elsif new.decided_by is not null then
    if needs_two_operators() and not exists (
      select from operators decider, operators requester
      where decider.id = new.decided_by and requester.id = new.requested_by and may_decide(new, decider, requester)
    ) then
      raise exception 'login % does not decide request % as this operator', session_user, new.id
        using errcode = 'restrict_violation';
    end if;
    new.decided_login := session_user;
  end if;
  return new;
end $$;
create trigger decision before update of status, decided_by on approvals
  for each row execute function record_decision();

-- Each decision of an operator. A second one follows if the process that executed the first one ended.
create table approval_decisions (
  id bigint generated always as identity primary key,
  approval_id bigint not null references approvals (id),
  decision text not null check (decision in ('approved', 'rejected')),
  decided_by uuid not null references operators (id),
  decided_at timestamptz(3) not null default now(),
  note text
);
create index approval_decisions_approval_id_idx on approval_decisions (approval_id);

-- Settlements and manual refunds of late payments above the newest limit need a second operator.
create table approval_limits (
  id bigint generated always as identity primary key,
  limit_rupiah bigint not null check (limit_rupiah >= 0),
  created_at timestamptz(3) not null default now(),
  -- The limit that it replaces: two concurrent changes cannot replace the same one.
  replaces_id bigint
);
create unique index approval_limits_replaces_id_idx on approval_limits (replaces_id);
insert into approval_limits (limit_rupiah) values (5000000);

-- Rules that two operators decide, whatever the statement is ---------------------------------------------------------

-- Whether an approval of two operators is executed now: `lunas approvals approve` sets `approved`, and executes.
create function is_in_execution(approval approvals, wanted_action text) returns boolean language sql stable
  return approval.action = wanted_action and approval.status = 'approved'
    and approval.decided_by <> approval.requested_by and approval.expires_at > now();

create function require_approved_limit() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'approval.set_limit') and parameters ->> 'limitRupiah' = new.limit_rupiah::text
  ) then
    raise exception 'no two operators have approved this limit' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on approval_limits
  for each row execute function require_approved_limit();

-- The terms of a policy as the parameters of an approval name them.
create function policy_terms(policy policies) returns jsonb language sql immutable
  return jsonb_build_object('provider', policy.provider, 'channel', policy.channel,
    'feeBasisPoints', policy.fee_basis_points, 'feeFlatRupiah', policy.fee_flat_rupiah,
    'settlementKind', policy.settlement_kind, 'settlementDelaySeconds', policy.settlement_delay_seconds,
    'expiresInSeconds', policy.expires_in_seconds);

-- A policy has the terms of the version before it, and those that the parameters change. The first one has no version
-- before it: what its parameters do not name is free.
create function require_approved_policy() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  terms constant jsonb := policy_terms(new);
  before jsonb;
begin
  select policy_terms(policies) into before from policies
    where provider = new.provider and channel = new.channel order by version desc limit 1;
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'catalog.set') and coalesce(before, terms) || parameters = terms
  ) then
    raise exception 'no two operators have approved this policy' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on policies
  for each row execute function require_approved_policy();

-- An account in use has the address, the key and the merchant that two operators have seen.
create function require_approved_account() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and not (
    exists (
      select from approvals
      where action = 'account.create' and status in ('approved', 'executed') and decided_by <> requested_by
        and parameters @> jsonb_build_object('accountId', new.id, 'adapter', new.adapter, 'baseUrl', new.base_url)
    ) and exists (
      select from approvals
      where action in ('account.create', 'account.set_key') and status in ('approved', 'executed')
        and decided_by <> requested_by and parameters ->> 'accountId' = new.id::text
        and parameters ->> 'keyFingerprint' is not distinct from new.key_fingerprint
        and parameters ->> 'nmid' is not distinct from new.nmid
    )
  ) then
    raise exception 'account % is not approved by two operators', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators_add before insert on provider_accounts for each row
  when (new.status <> 'proposed') execute function require_approved_account();
create trigger two_operators_enable before update of status on provider_accounts for each row
  when (old.status = 'proposed' and new.status <> 'proposed' or old.status <> 'enabled' and new.status = 'enabled')
  execute function require_approved_account();
-- No process calls a proposed account, so one in use stays so.
create trigger begins_as_proposal before update of status on provider_accounts for each row
  when (new.status = 'proposed' and old.status <> 'proposed') execute function forbid_mutation();

-- A key is replaced by the proposed one, while its approval is executed. Credentials are never replaced.
create function require_approved_key() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and (
    new.sealed_server_key is distinct from old.proposed_server_key
    or new.sealed_credentials is distinct from old.sealed_credentials
    or not exists (
      select from approvals
      where is_in_execution(approvals, 'account.set_key') and parameters ->> 'accountId' = new.id::text
        and parameters ->> 'keyFingerprint' = new.key_fingerprint and parameters ->> 'nmid' = new.nmid
    )
  ) then
    raise exception 'the key of account % is not approved by two operators', new.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators_replace
  before update of sealed_server_key, sealed_credentials, key_fingerprint, nmid on provider_accounts for each row
  when (
    (old.key_fingerprint, old.nmid) is distinct from (new.key_fingerprint, new.nmid)
    or not is_resealed(old.sealed_server_key, new.sealed_server_key)
    or (new.sealed_credentials is distinct from old.sealed_credentials
      and is_resealed(old.sealed_credentials, new.sealed_credentials) is not true)
  ) execute function require_approved_key();

-- Whether two operators have approved the key of an operator.
create function was_approved(operator operators) returns boolean language sql stable
  return exists (
    select from approvals
    where action = 'operator.create' and status = 'executed' and parameters ->> 'operatorId' = operator.id::text
  );

-- An operator who is alone can create the next one. Such an operator decides and requests nothing for a day, in which
-- the audit log shows it. The first two operators of an installation are created alone.
create function is_trusted(operator operators) returns boolean language sql stable
  return operator.created_at <= now() - interval '24 hours'
    or (select count(*) from operators where scopes is null) <= 2
    or was_approved(operator);

create function is_accepted(operator operators) returns boolean language sql stable
  return operator.is_approved and operator.revoked_at is null
    and (operator.expires_at is null or operator.expires_at > now());

create function can_decide(operator operators) returns boolean language sql stable
  return operator.scopes is null and operator.login is not null and is_accepted(operator) and is_trusted(operator);

-- One of the first two operators without scopes, whom no other operator can approve.
create function is_founder(operator operators) returns boolean language sql stable
  return operator.scopes is null and (
    select count(*) from operators earlier
    where earlier.scopes is null and (earlier.created_at, earlier.id) < (operator.created_at, operator.id)
  ) < 2;

create function has_created(creator operators, operator operators) returns boolean language sql stable
  return coalesce(operator.created_by = creator.id and not is_founder(operator), false);

-- The same person created both alone.
create function are_siblings(one operators, other operators) returns boolean language sql stable
  return coalesce(one.created_by = other.created_by and not is_founder(one) and not is_founder(other)
    and not was_approved(one) and not was_approved(other), false);

-- Whether they are two persons, as far as it is known. A login decides only as its own operator, and nothing that it
-- wrote, or that was requested through the API by an operator with this login, or with a key that this login has set.
create function may_decide(approval approvals, decider operators, requester operators) returns boolean
language sql stable
  return decider.id <> requester.id and can_decide(decider) and is_trusted(requester)
    and not has_created(decider, requester) and not has_created(requester, decider)
    and not are_siblings(decider, requester)
    and (not needs_two_operators() or decider.login = session_user
      and requester.login is distinct from session_user and requester.secret_login <> session_user
      and approval.requested_login <> session_user);

-- Two operators without scopes approve the next one, and two who can decide have to remain: the last one could create
-- the next one alone.
create function require_approved_operator() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  wanted constant text := case when new.revoked_at is null then 'operator.create' else 'operator.revoke' end;
begin
  if not needs_two_operators() then return new; end if;
  perform from operators order by id for update; -- concurrent changes are counted one after the other
  if (case wanted
    when 'operator.create' then (select count(*) from operators where scopes is null and is_accepted(operators)) >= 2
    else can_decide(old) and (select count(*) from operators where can_decide(operators)) = 2
  end) and not exists (
    select from approvals
    where is_in_execution(approvals, wanted) and parameters ->> 'operatorId' = new.id::text and target = new.name
      and (wanted = 'operator.revoke' or parameters ->> 'login' is not distinct from new.login)
  ) then
    raise exception '% of % is not approved by two operators', wanted, new.name using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators_add before insert on operators for each row
  when (new.is_approved) execute function require_approved_operator();
create trigger two_operators_accept before update of is_approved on operators for each row
  when (new.is_approved and not old.is_approved) execute function require_approved_operator();
create trigger two_operators_revoke before update of revoked_at on operators for each row
  when (old.revoked_at is null and new.revoked_at is not null) execute function require_approved_operator();

-- Only the person replaces the key of an operator: then nobody else has seen it.
create function record_key_login() returns trigger language plpgsql as $$
begin
  if needs_two_operators() and new.login is distinct from session_user then
    raise exception 'login % does not replace the key of %', session_user, new.name
      using errcode = 'restrict_violation';
  end if;
  new.secret_login := session_user;
  return new;
end $$;
create trigger own_key before update of secret_sha256, prefix, last_four on operators
  for each row execute function record_key_login();
create trigger end_is_final before update of is_approved, revoked_at on operators for each row
  when ((old.is_approved and not new.is_approved)
    or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at))
  execute function forbid_mutation();

-- People -------------------------------------------------------------------------------------------------------------

-- A person with a login. Realm `merchant`: a member of merchants. Realm `operator`: staff, whose login is a second
-- credential of one row of `operators`, so that two credentials of one operator never count as two operators.
create table users (
  id uuid primary key,
  realm text not null check (realm in ('merchant', 'operator')),
  email text not null check (email = lower(email) and email like '%_@_%' and length(email) <= 254),
  name text not null check (name <> '' and length(name) <= 100),
  language text not null default 'id' check (language in ('id', 'en')),
  password_hash text, -- argon2id, with its parameters. Null: none was set yet
  sealed_totp text, -- the secret of the authenticator app. Null: none
  totp_hmac text, -- of the same secret, as that of a bank account: no other one is compared with a code
  totp_last_step bigint, -- of the newest code that was accepted: no code is accepted twice, and no older one
  password_changed_at timestamptz(3),
  -- Triggers set these two, and no process can: when the user got the newest credential, and who saw the link by which
  -- the user got the login or its reset. Null: no other person saw it, or two operators confirmed who has the login.
  credentials_since timestamptz(3) not null,
  link_shown_to text,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  operator_id uuid generated always as (case when realm = 'operator' then id end) stored references operators (id),
  constraint users_totp_has_hash check ((sealed_totp is null) = (totp_hmac is null)),
  unique (realm, email),
  unique (id, realm)
);
-- Only an enrolment, which writes the hash too, replaces the secret.
create trigger totp_is_enrolled before update of sealed_totp on users for each row
  when (new.totp_hmac = old.totp_hmac and not is_resealed(old.sealed_totp, new.sealed_totp))
  execute function forbid_mutation();

-- The realm is that of merchants, so that no operator's login becomes a member by a mistake in a statement.
create table members (
  merchant_id uuid not null references merchants,
  user_id uuid not null,
  realm text not null default 'merchant' check (realm = 'merchant'),
  role text not null check (role in ('owner', 'finance', 'developer', 'support', 'cashier', 'viewer')),
  invited_by text not null, -- who: `user:<id>`, or as in the audit log of operators
  created_at timestamptz(3) not null, -- of the membership: a member who was removed and joins again is a new one
  -- Triggers set these three, and no process can: when it got this role, when it was added for the first time, and
  -- when it last lost the right to approve payouts.
  role_since timestamptz(3) not null,
  first_added_at timestamptz(3) not null,
  authorised_until timestamptz(3),
  removed_at timestamptz(3),
  last_seen_at timestamptz(3), -- on a page of this merchant; null: never. At most one write a minute
  primary key (merchant_id, user_id),
  foreign key (user_id, realm) references users (id, realm)
);
create index members_user_id_idx on members (user_id);

create function set_role_since() returns trigger language plpgsql as $$
begin
  new.role_since := now();
  if tg_op = 'INSERT' then
    new.first_added_at := now();
    new.authorised_until := null;
  end if;
  return new;
end $$;
create trigger role_since_of_new before insert on members for each row execute function set_role_since();
create trigger role_since_of_changed before update on members for each row
  when (new.role <> old.role or (old.removed_at is not null and new.removed_at is null))
  execute function set_role_since();

create table passkeys (
  id uuid primary key,
  user_id uuid not null,
  realm text not null,
  credential_id text not null unique, -- base64url, as WebAuthn has it in JSON
  public_key bytea not null,
  counter bigint not null check (counter >= 0),
  transports text[] not null default '{}',
  rp_id text not null, -- the host name of the pages: another host cannot use the passkey
  name text not null check (name <> '' and length(name) <= 100),
  is_backed_up boolean not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  foreign key (user_id, realm) references users (id, realm)
);
create index passkeys_user_id_idx on passkeys (user_id);

create table recovery_codes (
  user_id uuid not null,
  realm text not null,
  code_sha256 bytea not null check (octet_length(code_sha256) = 32),
  used_at timestamptz(3),
  primary key (user_id, code_sha256),
  foreign key (user_id, realm) references users (id, realm)
);

-- A browser that signs in or is signed in. Its token is replaced at each change of the stage and at each step-up.
create table sessions (
  id uuid primary key,
  realm text not null check (realm in ('merchant', 'operator')),
  user_id uuid, -- null: the passkey has not shown yet whose session it becomes
  token_sha256 bytea not null unique check (octet_length(token_sha256) = 32),
  stage text not null check (stage in ('passkey', 'password', 'enrol', 'full')),
  method text not null check (method in ('password', 'passkey', 'development_link')),
  challenge text, -- of WebAuthn, used once
  challenge_expires_at timestamptz(3),
  created_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null, -- at most one write a minute
  expires_at timestamptz(3) not null,
  stepped_up_at timestamptz(3),
  ended_at timestamptz(3),
  address inet not null,
  user_agent text not null check (length(user_agent) <= 300),
  foreign key (user_id, realm) references users (id, realm),
  constraint sessions_user_unless_passkey check ((user_id is null) = (stage = 'passkey')),
  constraint sessions_challenge_expires check ((challenge is null) = (challenge_expires_at is null))
);
create index sessions_user_id_idx on sessions (user_id) where ended_at is null;
create index sessions_retention_idx on sessions (expires_at, id);

-- Links that sign a browser in once: an invitation, the reset of a login, and the link of `lunas up` on a sandbox.
create table sign_in_links (
  id uuid primary key,
  realm text not null check (realm in ('merchant', 'operator')),
  kind text not null check (kind in ('invitation', 'reset', 'development')),
  token_sha256 bytea not null unique check (octet_length(token_sha256) = 32),
  user_id uuid, -- of a reset or a development link
  email text, -- of an invitation, which is bound to it
  merchant_id uuid references merchants,
  role text check (role in ('owner', 'finance', 'developer', 'support', 'cashier', 'viewer')),
  created_by text not null, -- as `members.invited_by`
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null, -- a link that is withdrawn expires at that time
  used_at timestamptz(3),
  foreign key (user_id, realm) references users (id, realm),
  constraint sign_in_links_user_unless_invitation check ((kind = 'invitation') = (user_id is null)),
  constraint sign_in_links_invitation check (
    kind = 'invitation' and realm = 'merchant' and email is not null and merchant_id is not null and role is not null
    or kind <> 'invitation' and email is null and role is null
  )
);
create index sign_in_links_merchant_id_idx on sign_in_links (merchant_id);
create index sign_in_links_retention_idx on sign_in_links (expires_at, id);

-- The link of a login was shown to who created it, because it is not mailed. The dashboard makes a login for a used
-- invitation only.
create function set_origin_of_login() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  new.credentials_since := now();
  select created_by into new.link_shown_to from sign_in_links
    where kind = 'invitation' and email = new.email and used_at is not null order by id desc limit 1;
  if not found and acts_as_dashboard() then
    raise exception 'user % was not invited', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create function set_origin_of_reset() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update users set credentials_since = now(), link_shown_to = new.created_by where id = new.user_id;
  return null;
end $$;
create trigger origin_of_login before insert on users for each row execute function set_origin_of_login();
create trigger origin_of_reset after update of used_at on sign_in_links for each row
  when (new.kind = 'reset' and old.used_at is null and new.used_at is not null) execute function set_origin_of_reset();

-- Each new credential counts from now on. The hash of a secret that `lunas keys reseal` seals again is the same.
create function set_credentials_since() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_table_name = 'users' then
    new.credentials_since := now();
  else
    update users set credentials_since = now() where id = new.user_id;
  end if;
  return new;
end $$;
create trigger credentials_since before update of password_hash, totp_hmac on users for each row
  when (new.password_hash is distinct from old.password_hash
    or (new.totp_hmac is not null and new.totp_hmac is distinct from old.totp_hmac))
  execute function set_credentials_since();
create trigger credentials_since after insert on passkeys for each row execute function set_credentials_since();
create trigger credentials_since after insert on recovery_codes for each row execute function set_credentials_since();

-- What users do on the pages: written before the action, and its outcome after it, as the log of operators. It has no
-- hash chain, whose lock would order all users of all merchants. Money is proven by transitions and the ledger.
create table user_actions (
  id bigint generated always as identity primary key,
  actor text not null, -- `user:<id>`
  via text not null check (via = 'dashboard'),
  user_id uuid not null references users,
  merchant_id uuid references merchants, -- null: it belongs to the login, not to a merchant
  action text not null,
  target text not null,
  note text,
  requested_at timestamptz(3) not null default clock_timestamp(),
  detail text,
  address inet not null
);
create index user_actions_merchant_id_idx on user_actions (merchant_id, id desc);
create index user_actions_user_id_idx on user_actions (user_id, id desc);
-- Who created a payment. Its other actions can be many.
create index user_actions_created_payment_idx on user_actions (target) where action = 'payment.create';
-- What a user has refunded lately.
create index user_actions_refund_idx on user_actions (user_id, requested_at) where action = 'payment.refund';

create table user_action_outcomes (
  action_id bigint primary key references user_actions,
  outcome text not null check (outcome in ('succeeded', 'rejected', 'indeterminate')),
  detail text,
  finished_at timestamptz(3) not null default clock_timestamp()
);

-- What operators did to a merchant, as its members may see it: without the operator, the note and the parameters. The
-- ids are from the sequence of user_actions, so that one list has both in order.
create table merchant_operator_actions (
  merchant_id uuid not null references merchants,
  id bigint not null default nextval('user_actions_id_seq'),
  action text not null,
  target text not null,
  requested_at timestamptz(3) not null,
  outcome text not null check (outcome in ('succeeded', 'indeterminate')),
  primary key (merchant_id, id)
);

-- Each change of a merchant, its keys, endpoints, bank accounts and members that may have happened; no reading. What is
-- done to a payment stands in its timeline. Only this writes the table, as the owner.
create function show_to_merchants() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  done operator_actions;
  object_id uuid;
begin
  select * into done from operator_actions where id = new.action_id;
  if done.action like '%.show' or done.target !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then return null; end if;
  object_id := done.target;
  insert into merchant_operator_actions (merchant_id, action, target, requested_at, outcome)
  select merchant_id, done.action, done.target, done.requested_at, new.outcome
  from (
    select id from merchants where id = object_id
    union select merchant_id from api_keys where id = object_id
    union select merchant_id from webhook_endpoints where id = object_id
    union select merchant_id from bank_accounts where id = object_id
    union select merchant_id from members where user_id = object_id and removed_at is null
  ) owner (merchant_id);
  return null;
end $$;
create trigger show_to_merchants after insert on operator_action_outcomes for each row
  when (new.outcome <> 'rejected') execute function show_to_merchants();

-- What every owner of a merchant has to see, and a member if it is about the own login. Home shows a notice to each of
-- them until that user closes it. Only triggers write one, so no statement of any role changes access or where money
-- goes silently. What occurs again while the notice is open is counted: many notices would hide the others.
create table merchant_notices (
  id bigint generated always as identity primary key,
  merchant_id uuid not null references merchants,
  kind text not null check (kind in ('security.factor_changed', 'security.recovery_code_used', 'security.wrong_codes',
    'security.login_reset', 'security.member_authorised', 'security.owner_changed', 'security.member_changed',
    'security.key_created', 'security.key_changed', 'security.webhook_changed', 'security.return_url_changed',
    'security.contact_changed', 'security.origins_changed', 'security.logo_changed', 'security.accent_changed',
    'bank_account.pending_inquiry', 'bank_account.pending_approval', 'bank_account.active', 'bank_account.suspended',
    'bank_account.rejected', 'bank_account.withdrawn', 'bank_account.replaced', 'bank_account.disabled',
    'payout.failed', 'payout.returned', 'payout.waiting_for_approval', 'payout.schedule_proposed',
    'payout.schedule_changed', 'payment.other_amount')),
  -- The user, the key, the endpoint, the bank account, the payout or the payment that it is about; the merchant if its
  -- checkout page changed.
  target_id uuid not null,
  -- The credentials of a changed login.
  changed text[] not null default '{}'
    check (changed <@ array['password', 'authenticator_app', 'passkey', 'recovery_codes']),
  count integer not null default 1 check (count > 0), -- how many transactions it stands for
  occurred_at timestamptz(3) not null default now(), -- the newest
  newest_xid xid8 not null default pg_current_xact_id(),
  ended_at timestamptz(3), -- when it occurred again after everybody had closed it: that is another notice
  mailed_at timestamptz(3) -- null: it was not mailed
);
create unique index merchant_notices_open_idx on merchant_notices (merchant_id, kind, target_id)
  where ended_at is null;

-- What a user has seen of a notice. Only `close_notices` writes it.
create table merchant_notice_closings (
  notice_id bigint not null references merchant_notices,
  user_id uuid not null references users,
  count integer not null, -- of the notice at that time: it is open again when its count is greater
  closed_at timestamptz(3) not null,
  primary key (notice_id, user_id)
);

-- Whether a member sees a notice. It is not of the time before the membership.
create function is_shown_to(notice merchant_notices, member members) returns boolean language sql immutable
  return member.merchant_id = notice.merchant_id and member.removed_at is null
    and member.created_at < notice.occurred_at
    and (member.role = 'owner' or member.user_id = notice.target_id and notice.kind in (
      'security.factor_changed', 'security.recovery_code_used', 'security.wrong_codes', 'security.login_reset'));

-- A notice, or one more of an open one. A transaction counts once.
create function write_notice(merchant uuid, about text, target uuid, credentials text[] default '{}') returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  update merchant_notices notice set ended_at = now()
  where merchant_id = merchant and kind = about and target_id = target and ended_at is null
    and occurred_at < now() - interval '1 day' and not exists (
      select from members member
      where member.merchant_id = merchant and is_shown_to(notice, member) and not exists (
        select from merchant_notice_closings closing
        where notice_id = notice.id and closing.user_id = member.user_id and closing.count = notice.count));
  insert into merchant_notices as notice (merchant_id, kind, target_id, changed)
  values (merchant, about, target, credentials)
  on conflict (merchant_id, kind, target_id) where ended_at is null do update set
    count = notice.count + (notice.newest_xid <> excluded.newest_xid)::integer,
    changed = notice.changed || array(
      select credential from unnest(excluded.changed) credential where credential <> all(notice.changed)),
    occurred_at = excluded.occurred_at, newest_xid = excluded.newest_xid, mailed_at = null;
end;

-- Closes notices of a merchant for the user of a session, and for nobody else: the value of its cookie is stored
-- nowhere. `counts` has how much of each the user has seen. Returns how many notices that are.
create function close_notices(session_token text, merchant uuid, notices bigint[], counts integer[]) returns integer
language sql security definer set search_path = public, pg_temp
begin atomic
  with closed as (
    insert into merchant_notice_closings as closing (notice_id, user_id, count, closed_at)
    select notice.id, member.user_id, min(seen.count), now()
    from unnest(notices, counts) seen (id, count)
      join merchant_notices notice
        on notice.id = seen.id and notice.merchant_id = merchant and seen.count between 1 and notice.count
      join sessions session on session.token_sha256 = sha256(convert_to(session_token, 'utf8'))
        and session.stage = 'full' and session.ended_at is null and session.expires_at > now()
      join members member on member.user_id = session.user_id and is_shown_to(notice, member)
    group by notice.id, member.user_id
    on conflict (notice_id, user_id) do update
      set count = greatest(closing.count, excluded.count), closed_at = excluded.closed_at
    returning notice_id
  )
  select count(*)::integer from closed;
end;

-- Whether the login of this connection is that of a dashboard. One that is an operator too, as a superuser is, acts as
-- an operator.
create function acts_as_dashboard() returns boolean language sql stable
  return pg_has_role(session_user, 'lunas_dashboard', 'member')
    and not pg_has_role(session_user, 'lunas_operator', 'member');

-- The dashboard sees no operator's login, whatever its statement is. The policies follow the database role, so they
-- leave nothing in a session, and a pooler does not matter. They do not bind the owner, as which views and functions
-- with `security definer` run: none of these shows a row of a user.
do $$
declare
  person text;
begin
  foreach person in array '{users, passkeys, recovery_codes, sessions, sign_in_links}'::text[] loop
    execute format('alter table %I enable row level security', person);
    execute format($policy$create policy every_realm on %I to lunas_operator, lunas_worker using (true)$policy$,
      person);
  end loop;
  foreach person in array '{users, passkeys, recovery_codes, sessions}'::text[] loop
    execute format($policy$create policy merchant_realm on %I to lunas_dashboard using (realm = 'merchant')$policy$,
      person);
  end loop;
end $$;
-- A development link signs in without a password: the dashboard uses one and never makes one.
create policy merchant_realm on sign_in_links to lunas_dashboard
  using (realm = 'merchant') with check (realm = 'merchant' and (kind <> 'development' or used_at is not null));
-- Only a member shows a link there, and so sees it. Commands of a local stack have a login with every role.
create policy shown_by_members on sign_in_links as restrictive for insert to lunas_dashboard
  with check (not acts_as_dashboard() or created_by like 'user:%');
-- Its session needs no step-up, so the dashboard of production writes none, and finds none that another role wrote.
create policy development_in_sandbox on sessions as restrictive to lunas_dashboard
  using (method <> 'development_link' or exists (select from installation where environment = 'sandbox'));

-- The dashboard changes no credential silently, whatever its statement is. It adds to its notice, and cannot do so by
-- a statement of its own.
create function notice_changed_factor() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  row_changed constant record := coalesce(new, old);
  changed_id uuid;
  credentials text[];
begin
  if tg_table_name = 'users' then
    changed_id := row_changed.id;
    credentials := array_remove(array[
      case when new.password_hash is distinct from old.password_hash then 'password' end,
      case when new.sealed_totp is distinct from old.sealed_totp then 'authenticator_app' end], null);
  else
    changed_id := row_changed.user_id;
    credentials := array[tg_argv[0]];
  end if;
  perform write_notice(merchant_id, 'security.factor_changed', user_id, credentials)
  from members where user_id = changed_id and removed_at is null;
  return null;
end $$;
create trigger notice after update of password_hash, sealed_totp on users for each row
  when ((new.password_hash, new.sealed_totp) is distinct from (old.password_hash, old.sealed_totp)
    and acts_as_dashboard())
  execute function notice_changed_factor();
create trigger notice after insert or delete on passkeys for each row
  when (acts_as_dashboard()) execute function notice_changed_factor('passkey');
create trigger notice after insert or delete on recovery_codes for each row
  when (acts_as_dashboard()) execute function notice_changed_factor('recovery_codes');

-- A recovery code stands for the second factor.
create function notice_used_code() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(merchant_id, 'security.recovery_code_used', user_id)
  from members where user_id = new.user_id and removed_at is null;
  return null;
end $$;
create trigger notice_of_use after update of used_at on recovery_codes for each row
  when (old.used_at is null and new.used_at is not null) execute function notice_used_code();

create function notice_reset() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(merchant_id, 'security.login_reset', user_id)
  from members where user_id = new.user_id and removed_at is null;
  return null;
end $$;
create trigger notice after insert on sign_in_links for each row
  when (new.kind = 'reset') execute function notice_reset();

-- Wrong codes change no row, so the dashboard counts them.
create function note_wrong_codes(person uuid) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  select write_notice(merchant_id, 'security.wrong_codes', user_id)
  from members where user_id = person and removed_at is null;
end;

-- Neither does it give rights silently, nor does an operator. The first member has nobody who could notice it.
create function notice_changed_member() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  approving constant text[] := array['owner', 'finance']; -- the roles that approve payouts
  before text := case when tg_op = 'UPDATE' and old.removed_at is null then old.role else '' end;
  after text := case when new.removed_at is null then new.role else '' end;
  is_owner_changed constant boolean := (before = 'owner') <> (after = 'owner');
  is_authorised constant boolean := after = any(approving) and before <> all(approving);
begin
  if before = after or not exists (
    select from members where merchant_id = new.merchant_id and user_id <> new.user_id
  ) then return null; end if;
  perform write_notice(new.merchant_id, notice.kind, new.user_id)
  from (values
    ('security.owner_changed', is_owner_changed),
    ('security.member_authorised', is_authorised),
    ('security.member_changed', not is_owner_changed and not is_authorised)
  ) notice (kind, is_due) where notice.is_due;
  return null;
end $$;
create trigger notice after insert or update of role, removed_at on members for each row
  when (acts_as_dashboard() or acts_as_operator()) execute function notice_changed_member();

-- Nor does any role create a key silently, permit it in other networks, or revoke one.
create function notice_key() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(new.merchant_id, tg_argv[0], new.id);
  return null;
end $$;
create trigger notice after insert on api_keys for each row execute function notice_key('security.key_created');
create trigger notice_of_change after update of allowed_networks, revoked_at on api_keys for each row
  when ((new.allowed_networks, new.revoked_at) is distinct from (old.allowed_networks, old.revoked_at))
  execute function notice_key('security.key_changed');

-- Nor does any role point webhooks elsewhere, sign them with a secret of its own, or add customers to them.
create function notice_webhook() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed_id constant uuid := to_jsonb(new) ->> tg_argv[0];
begin
  perform write_notice(merchant_id, 'security.webhook_changed', id) from webhook_endpoints where id = changed_id;
  return null;
end $$;
create trigger notice after insert on webhook_endpoints for each row execute function notice_webhook('id');
create trigger notice_of_change after update of url, expand, status, deleted_at on webhook_endpoints for each row
  when (new.url <> old.url or ('customer' = any(new.expand) and not 'customer' = any(old.expand))
    or (new.status = 'enabled' and old.status <> 'enabled') or (new.deleted_at is null and old.deleted_at is not null))
  execute function notice_webhook('id');
create trigger notice after insert on webhook_secrets for each row execute function notice_webhook('endpoint_id');

-- Customers trust a page that looks like the shop, and go where it sends them: nobody changes that silently.
create function notice_changed_checkout() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed constant record := coalesce(new, old);
  changed_id uuid;
begin
  if tg_table_name = 'merchants' then
    changed_id := changed.id;
  else
    changed_id := changed.merchant_id;
  end if;
  perform write_notice(changed_id, tg_argv[0], changed_id);
  return null;
end $$;
create trigger notice after insert or update or delete on merchant_logos for each row
  execute function notice_changed_checkout('security.logo_changed');
create trigger notice_of_accent after update of accent on merchants for each row
  when (new.accent is distinct from old.accent) execute function notice_changed_checkout('security.accent_changed');
create trigger notice_of_return after update of return_url on merchants for each row
  when (new.return_url is distinct from old.return_url)
  execute function notice_changed_checkout('security.return_url_changed');
create trigger notice_of_contact after update of contact on merchants for each row
  when (new.contact is distinct from old.contact) execute function notice_changed_checkout('security.contact_changed');
create trigger notice_of_origins after update of checkout_origins on merchants for each row
  when (new.checkout_origins <> old.checkout_origins)
  execute function notice_changed_checkout('security.origins_changed');

-- Nor does an order at the provider have another amount silently: a customer may have paid it.
create function notice_other_amount() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(merchant_id, 'payment.other_amount', id) from payments where id = new.payment_id;
  return null;
end $$;
create trigger notice after insert on exceptions for each row
  when (new.kind = 'wrong_amount') execute function notice_other_amount();

-- What has ended, was used or was revoked stays so, whatever the statement is. The dashboard extends no key, no link.
create trigger end_is_final before update of ended_at on sessions for each row
  when (old.ended_at is not null and new.ended_at is distinct from old.ended_at) execute function forbid_mutation();
create trigger use_is_final before update of used_at on sign_in_links for each row
  when (old.used_at is not null and new.used_at is distinct from old.used_at) execute function forbid_mutation();
create trigger use_is_final before update of used_at on recovery_codes for each row
  when (old.used_at is not null and new.used_at is distinct from old.used_at) execute function forbid_mutation();
create trigger revocation_is_final before update of revoked_at on api_keys for each row
  when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  execute function forbid_mutation();
create trigger expiry_is_final before update of expires_at on sign_in_links for each row
  when (new.expires_at > old.expires_at and acts_as_dashboard()) execute function forbid_mutation();
create trigger expiry_is_final before update of expires_at on api_keys for each row
  when (coalesce(new.expires_at, 'infinity') > coalesce(old.expires_at, 'infinity') and acts_as_dashboard())
  execute function forbid_mutation();

-- Whether one operator may invite a person alone: the merchant has no member, and nothing that a member could take.
create function may_invite_alone(merchant uuid) returns boolean language sql stable
  return not exists (select from members where merchant_id = merchant and removed_at is null)
    and not exists (select from payments where merchant_id = merchant)
    and not exists (select from balance_transactions where merchant_id = merchant);

-- Whether two operators decided this link, for this person and role.
create function approves_link(approval approvals, link sign_in_links) returns boolean language sql stable
  return approval.decided_by <> approval.requested_by and approval.parameters ->> 'linkId' = link.id::text
    and case link.kind
      when 'reset' then approval.action = 'user.reset' and approval.target = link.user_id::text
      when 'invitation' then approval.action = 'user.invite' and approval.parameters @> jsonb_build_object(
        'merchantId', link.merchant_id, 'email', link.email, 'role', link.role)
      else false
    end;

-- In production no operator makes a link valid alone, nor in the name of a user. The first member of a merchant is the
-- exception. A link without an approval has expired. The limits are those of the commands, whatever the statement is.
create function require_approved_link() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not needs_two_operators() or acts_as_dashboard() then return new; end if;
  if new.created_by like 'user:%' or not (
    exists (
      select from approvals where approves_link(approvals, new) and is_in_execution(approvals, approvals.action)
    ) or new.kind = 'invitation' and may_invite_alone(new.merchant_id)
  ) then
    raise exception 'link % is not approved by two operators', new.id using errcode = 'restrict_violation';
  end if;
  new.expires_at := least(new.expires_at,
    clock_timestamp() + case new.kind when 'reset' then interval '1 hour' else interval '72 hours' end);
  return new;
end $$;
create trigger two_operators_add before insert on sign_in_links for each row
  when (new.expires_at > now()) execute function require_approved_link();
create trigger two_operators_extend before update of expires_at on sign_in_links for each row
  when (new.expires_at > old.expires_at) execute function require_approved_link();

-- An invitation that one operator made alone is only for the first member: it ends when another one has joined. It is
-- asked only about the link of an operator, and where two have to decide.
create function is_still_permitted(invitation sign_in_links) returns boolean
language sql stable security definer set search_path = public, pg_temp
  return not exists (select from members where merchant_id = invitation.merchant_id and removed_at is null)
    or exists (
      select from approvals where status in ('approved', 'executed') and approves_link(approvals, invitation)
    );
create function require_still_permitted() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- Of two who join at the same time, one waits, and is not the first.
  perform from merchants where id = new.merchant_id for no key update;
  if new.created_by not like 'user:%' and needs_two_operators() and not is_still_permitted(new) then
    raise exception 'invitation % was for the first member', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger still_permitted before update of used_at on sign_in_links for each row
  when (new.kind = 'invitation' and old.used_at is null and new.used_at is not null)
  execute function require_still_permitted();

-- Two operators have spoken to the person: nobody else has the login. The approval is of these credentials.
create function confirm_user(person uuid, since timestamptz) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'user.confirm') and target = person::text
      and (parameters ->> 'credentialsSince')::timestamptz = since
  ) then
    raise exception 'no two operators have confirmed user %', person using errcode = 'restrict_violation';
  end if;
  update users set link_shown_to = null
    where id = person and credentials_since = since and link_shown_to is not null;
  return found;
end $$;

-- Operators make only the demo owner of a sandbox a member.
create function require_sandbox() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if is_production() then
    raise exception 'in production a member joins by an invitation' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger by_invitation before insert on members for each row
  when (acts_as_operator()) execute function require_sandbox();

-- Bank accounts of merchants -----------------------------------------------------------------------------------------

-- An account of a merchant that receives payouts. It is never edited: a change is a new account. The number is sealed,
-- and shown by its last four digits. Its columns are those of `BANK_ACCOUNT_TRANSITIONS`.
create table bank_accounts (
  id uuid primary key,
  merchant_id uuid not null references merchants,
  bank_code text not null check (bank_code ~ '^\d{3}$'),
  sealed_number text, -- null: emptied, after a final status
  -- Of the number, keyed, as it was proposed: before each call to the bank the number is compared with it.
  number_hmac text not null,
  last_four text not null check (last_four ~ '^\d{4}$'),
  sealed_holder_name text, -- as the bank reports it; null until then, or emptied
  name_match text check (name_match in ('same', 'similar', 'different')),
  -- Other merchants that had the same account at the inquiry: for the operator who approves.
  same_number_merchants uuid[] not null default '{}',
  status text not null check (status in ('pending_inquiry', 'pending_approval', 'active', 'suspended', 'rejected',
    'withdrawn', 'replaced', 'disabled')),
  version integer not null check (version > 0), -- counts the transitions
  proposed_by text not null,
  confirmed_by text, -- the second member, where the merchant has one
  inquired_at timestamptz(3), -- when the bank last reported the holder
  usable_from timestamptz(3), -- the end of the cool-down, in which it receives nothing
  failure_reason text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint bank_accounts_usable_from_if_approved check (status <> 'active' or usable_from is not null),
  constraint bank_accounts_holder_if_inquired check (inquired_at is null or name_match is not null),
  unique (id, merchant_id) -- a payout goes to an account of its merchant
);
-- At most one account that receives payouts, and one proposal.
create unique index bank_accounts_active_key on bank_accounts (merchant_id) where status in ('active', 'suspended');
create unique index bank_accounts_proposal_key on bank_accounts (merchant_id)
  where status in ('pending_inquiry', 'pending_approval');
create index bank_accounts_merchant_id_idx on bank_accounts (merchant_id, created_at desc, id desc);
create index bank_accounts_waiting_idx on bank_accounts (created_at, id)
  where status in ('pending_inquiry', 'pending_approval');
create index bank_accounts_created_at_idx on bank_accounts (created_at desc, id desc);
-- The inquiry opens only numbers with the same end.
create index bank_accounts_same_end_idx on bank_accounts (bank_code, last_four);

create table bank_account_transitions (
  bank_account_id uuid not null references bank_accounts,
  version integer not null check (version > 0),
  name text not null,
  from_status text,
  to_status text not null,
  occurred_at timestamptz(3) not null,
  actor text not null,
  note text,
  recorded_at timestamptz(3) not null default now(),
  primary key (bank_account_id, version)
);

-- Whose account it is never changes. The number can be emptied, or sealed again with another master key.
create trigger account_is_final before update on bank_accounts for each row
  when (
    (old.id, old.merchant_id, old.bank_code, old.last_four, old.number_hmac, old.proposed_by, old.created_at)
    is distinct from (new.id, new.merchant_id, new.bank_code, new.last_four, new.number_hmac, new.proposed_by,
      new.created_at)
    or (new.sealed_number is not null and is_resealed(old.sealed_number, new.sealed_number) is not true)
  ) execute function forbid_mutation();
-- Who approves the account sees the holder that the bank has reported: only the inquiry writes it.
create trigger holder_is_inquired before update of sealed_holder_name on bank_accounts for each row
  when (new.sealed_holder_name is not null and acts_as_operator()
    and is_resealed(old.sealed_holder_name, new.sealed_holder_name) is not true)
  execute function forbid_mutation();
create trigger status_is_final before update of status on bank_accounts for each row
  when (old.status in ('rejected', 'withdrawn', 'replaced', 'disabled') and new.status <> old.status)
  execute function forbid_mutation();
create trigger begins_as_proposal before insert on bank_accounts for each row
  when (new.status <> 'pending_inquiry' or new.version <> 1 or new.confirmed_by is not null)
  execute function forbid_mutation();

-- In production an account becomes active only while an approval of two operators for this very version is executed:
-- `lunas approvals approve` sets `approved` and executes in one transaction.
create function require_approved_bank_account() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if is_production() and not exists (
    select from approvals
    where action in ('bank_account.approve', 'bank_account.reactivate') and is_in_execution(approvals, action)
      and parameters ->> 'bankAccountId' = new.id::text and parameters ->> 'version' = old.version::text
  ) then
    raise exception 'bank account % is not approved by two operators', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before update of status on bank_accounts for each row
  when (new.status = 'active' and old.status <> 'active') execute function require_approved_bank_account();

-- Limits of payouts; the newest is in force. Rows instead of variables: no process may read another value.
create table payout_limits (
  id bigint generated always as identity primary key,
  cooldown_seconds integer not null check (cooldown_seconds >= 0),
  -- So long after the last send, a payout that the bank does not know may still arrive there.
  not_found_seconds integer not null default 86400 check (not_found_seconds >= 0),
  -- Above it, by merchant and WIB day, an operator approves payouts.
  day_limit_rupiah bigint not null default 100000000 check (day_limit_rupiah >= 0),
  created_at timestamptz(3) not null default now(),
  -- The row that it replaces: two concurrent changes cannot replace the same one.
  replaces_id bigint
);
create unique index payout_limits_replaces_id_idx on payout_limits (replaces_id);
insert into payout_limits (cooldown_seconds) values (86400);

-- The cool-down begins when the account becomes active, and no statement ends it earlier. The clock of the process that
-- approves may be a minute behind that of PostgreSQL.
create function require_cooldown() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not pg_has_role(session_user, 'lunas_owner', 'member') and not (
    new.status = 'active' and old.status <> 'active' and new.usable_from >= now() - interval '1 minute'
      + (select cooldown_seconds from payout_limits order by id desc limit 1) * interval '1 second'
  ) then
    raise exception 'the cool-down of bank account % begins with its status, and ends no earlier', new.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger cooldown before update of status, usable_from on bank_accounts for each row
  when (new.usable_from is distinct from old.usable_from or new.status = 'active' and old.status <> 'active')
  execute function require_cooldown();

-- A day is the least in production: so long the owners can notice an account that none of them has added.
create function require_day_of_limits() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if least(new.cooldown_seconds, new.not_found_seconds) < 86400 and is_production() then
    raise exception 'in production the cool-down and the wait for the bank are at least a day'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger a_day_at_least before insert on payout_limits
  for each row execute function require_day_of_limits();

-- In production two operators change what payouts may move and cost, and start payouts again. The parameters of their
-- approval have the columns of the row, so that an approval of other values is of no use.
create function require_approved_row() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if is_production() and not exists (
    select from approvals
    where is_in_execution(approvals, tg_argv[0])
      and parameters @> (to_jsonb(new)
        - array['id', 'created_at', 'replaces_id', 'is_stopped', 'ended_stop_id', 'changed_by', 'note', 'changed_at'])
  ) then
    raise exception 'no two operators have approved this %', tg_argv[0] using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on payout_limits
  for each row execute function require_approved_row('payout.set_limits');

-- By database role: the dashboard proposes, confirms, withdraws and disables, whatever its statement is.
alter table bank_accounts enable row level security;
create policy every_status on bank_accounts to lunas_operator, lunas_payouts using (true);
create policy every_status_readable on bank_accounts for select
  to lunas_api, lunas_dashboard, lunas_worker, lunas_reader using (true);
create policy proposals on bank_accounts for insert to lunas_dashboard with check (status = 'pending_inquiry');
create policy withdrawals on bank_accounts for update to lunas_dashboard
  using (true) with check (status in ('withdrawn', 'disabled'));
-- The trigger `second_person` permits a confirmation only after the inquiry.
create policy confirmations on bank_accounts for update to lunas_dashboard
  using (status = 'pending_approval') with check (status = 'pending_approval' and confirmed_by is not null);

-- Payouts ------------------------------------------------------------------------------------------------------------

-- The rails of a payout, and what they cost: a change is a new version, and a payout keeps the one that it captured.
-- The window is in Western Indonesian Time (WIB).
create table payout_policies (
  id bigint generated always as identity primary key,
  rail text not null check (rail in ('bi_fast', 'online', 'skn', 'rtgs')),
  version integer not null check (version > 0),
  fee_rupiah bigint not null check (fee_rupiah >= 0),
  min_rupiah bigint not null check (min_rupiah > 0), -- of the amount that is sent
  max_rupiah bigint check (max_rupiah >= min_rupiah), -- null: no limit
  opens_at time(0) not null,
  closes_at time(0) not null check (closes_at > opens_at), -- 24:00: it does not close
  days text not null check (days in ('every', 'working')),
  expected_within_seconds integer not null check (expected_within_seconds > 0),
  is_enabled boolean not null,
  created_at timestamptz(3) not null default now(),
  unique (rail, version)
);
insert into payout_policies (rail, version, fee_rupiah, min_rupiah, max_rupiah, opens_at, closes_at, days,
  expected_within_seconds, is_enabled)
values
  ('bi_fast', 1, 2500, 10000, 250000000, '00:00', '24:00', 'every', 60, true),
  ('online', 1, 6500, 10000, 50000000, '00:00', '24:00', 'every', 300, false),
  ('skn', 1, 2900, 10000, 1000000000, '08:00', '14:00', 'working', 36000, false),
  ('rtgs', 1, 30000, 100000001, null, '08:00', '14:30', 'working', 14400, true);
create trigger two_operators before insert on payout_policies
  for each row execute function require_approved_row('payout.set_policy');

-- Days besides Saturdays and Sundays on which banks do not work.
create table bank_holidays (day date primary key);

-- While the newest row stops payouts, none is requested and none is sent.
create table payout_stops (
  id bigint generated always as identity primary key,
  is_stopped boolean not null,
  ended_stop_id bigint references payout_stops, -- the stop that this start ends
  changed_by text not null,
  note text not null,
  changed_at timestamptz(3) not null default now(),
  constraint payout_stops_ended_stop_id_if_started check (is_stopped = (ended_stop_id is null))
);
-- A start ends the stop that was seen. It is not written if there is a newer one: the rows are numbered in the order of
-- their commits.
create function order_payout_stop() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtext('payout_stops'));
  new.id := nextval(pg_get_serial_sequence('payout_stops', 'id'));
  return case when exists (select from payout_stops where id > new.ended_stop_id) then null else new end;
end $$;
create trigger unless_stopped_again before insert on payout_stops for each row execute function order_payout_stop();
-- One operator stops payouts.
create trigger two_operators before insert on payout_stops for each row
  when (not new.is_stopped) execute function require_approved_row('payout.start');

-- When a merchant's balance is paid out without a request. No row: never.
create table payout_settings (
  merchant_id uuid primary key references merchants,
  schedule text not null check (schedule in ('manual', 'daily', 'weekly')),
  weekday smallint check (weekday between 1 and 7), -- 1: Monday
  minimum_rupiah bigint not null default 50000 check (minimum_rupiah > 0), -- of a payout of the schedule
  changed_by text not null,
  approved_by text, -- null: no second member had to
  changed_at timestamptz(3) not null,
  constraint payout_settings_weekday_if_weekly check ((schedule = 'weekly') = (weekday is not null))
);

-- Settings that wait for a second member: one proposal of each merchant. The next one replaces it.
create table proposed_payout_settings (
  id uuid primary key,
  merchant_id uuid not null unique references merchants,
  schedule text not null check (schedule in ('daily', 'weekly')),
  weekday smallint check (weekday between 1 and 7),
  minimum_rupiah bigint not null check (minimum_rupiah > 0),
  proposed_by text not null,
  proposed_at timestamptz(3) not null,
  constraint proposed_payout_settings_weekday_if_weekly check ((schedule = 'weekly') = (weekday is not null))
);

-- The payout of each merchant whose turn it is, or was, to be requested. While its request is not decided, no other
-- one is started for the same money: docs/payouts.md.
create table payout_request_turns (
  merchant_id uuid primary key references merchants,
  payout_id uuid not null,
  taken_at timestamptz(3) not null default now()
);

-- A payout pays a merchant's available balance: the lines that it has claimed. Its columns are those of
-- `PAYOUT_TRANSITIONS`.
create table payouts (
  id uuid primary key,
  reference_id text not null unique, -- what the bank knows it by
  merchant_id uuid not null references merchants,
  bank_account_id uuid not null,
  provider_account_id uuid not null references provider_accounts, -- our account, which pays
  gross_rupiah bigint not null,
  fee_rupiah bigint not null check (fee_rupiah >= 0),
  amount_rupiah bigint not null check (amount_rupiah > 0), -- what the merchant receives
  rail text not null check (rail in ('bi_fast', 'online', 'skn', 'rtgs')),
  payout_policy_id bigint not null references payout_policies,
  line_count integer not null check (line_count >= 0),
  up_to_posting_id bigint not null, -- of the last line that it has claimed; 0: it is paid on account
  -- Recovery wrote it again. It claims no line, so its own line is part of the balance.
  is_rebuilt boolean not null default false,
  -- Who has to approve it, determined at the request. `none`: the workflow does.
  approval_kind text not null check (approval_kind in ('none', 'second_user', 'operator')),
  requested_by text not null,
  approved_by text,
  status text not null check (status in ('requested', 'approved', 'submitted', 'completed', 'failed', 'cancelled',
    'returned')),
  version integer not null check (version > 0), -- counts the transitions
  send_count smallint not null default 0 check (send_count >= 0), -- the permissions for a call to the bank
  send_outcome text check (send_outcome in ('accepted', 'rejected', 'indeterminate')), -- of the last call
  requested_at timestamptz(3) not null,
  submitted_at timestamptz(3), -- committed before the bank is called for the first time
  last_sent_at timestamptz(3),
  finished_at timestamptz(3),
  updated_at timestamptz(3) not null,
  bank_reference text,
  signalled_at timestamptz(3), -- when the sweeper last woke its workflow; null: since then it was deferred
  failure_kind text check (failure_kind in ('account', 'source_balance', 'cut_off', 'limit', 'other')),
  failure_reason text, -- why it failed or came back
  is_manual boolean not null default false, -- an operator resolved it with other evidence than the bank's status
  -- Merchant, account and its number, amounts and reference as they were requested. Each call to the bank compares them
  -- with the row: a column that was changed by hand stops the payout.
  sealed_terms text not null,
  foreign key (bank_account_id, merchant_id) references bank_accounts (id, merchant_id),
  constraint payouts_gross_is_amount_plus_fee check (gross_rupiah = amount_rupiah + fee_rupiah),
  constraint payouts_lines_unless_rebuilt check (not is_rebuilt or line_count = 0),
  constraint payouts_lines_unless_on_account check (is_rebuilt or (up_to_posting_id = 0) = (line_count = 0)),
  constraint payouts_approved_by_if_approved check (status in ('requested', 'cancelled') or approved_by is not null),
  constraint payouts_two_users check (approval_kind <> 'second_user' or approved_by <> requested_by),
  constraint payouts_submitted_at_if_submitted
    check ((status in ('requested', 'approved', 'cancelled')) = (submitted_at is null)),
  constraint payouts_sent_if_submitted
    check ((submitted_at is null) = (last_sent_at is null) and (submitted_at is null) = (send_count = 0)),
  constraint payouts_finished_if_resting
    check ((status in ('completed', 'failed', 'cancelled', 'returned')) = (finished_at is not null)),
  constraint payouts_failure_if_failed check (status <> 'failed' or num_nonnulls(failure_kind, failure_reason) = 2)
);
create index payouts_merchant_idx on payouts (merchant_id, requested_at desc, id desc);
create index payouts_requested_at_idx on payouts (requested_at desc, id desc);
create index payouts_open_idx on payouts (id) where status in ('requested', 'approved', 'submitted');
create index payouts_in_transit_idx on payouts (merchant_id) include (amount_rupiah)
  where status in ('requested', 'approved', 'submitted');
create index payouts_returned_idx on payouts (updated_at) where status = 'returned';
create index payouts_resting_idx on payouts (updated_at, id)
  where status in ('completed', 'failed', 'cancelled', 'returned');

create table payout_transitions (
  payout_id uuid not null references payouts,
  version integer not null check (version > 0),
  name text not null,
  from_status text,
  to_status text not null,
  occurred_at timestamptz(3) not null,
  actor text not null,
  note text,
  recorded_at timestamptz(3) not null default now(),
  request_id text,
  traceparent text,
  primary key (payout_id, version)
);
create index payout_transitions_recorded_at_idx on payout_transitions (recorded_at, payout_id);

create table payout_events (
  payout_id uuid not null,
  payout_version integer not null,
  event text not null,
  body text not null, -- the very bytes that are signed and sent
  occurred_at timestamptz(3) not null,
  recorded_xid xid8 not null default pg_current_xact_id(), -- as that of `webhook_events`
  primary key (payout_id, payout_version),
  foreign key (payout_id, payout_version) references payout_transitions
);
create index payout_events_recorded_xid_idx on payout_events (recorded_xid);

alter table ledger_postings add foreign key (payout_id, payout_version) references payout_transitions;
alter table balance_transactions add foreign key (payout_id) references payouts;
alter table webhook_deliveries add foreign key (payout_id, payout_version) references payout_events;

-- Only the request of a payout claims lines, and only those of its merchant. Once the payout has its own line, another
-- claim would take money from the merchant: the sum is not zero then.
create function require_claim_of_request() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  claim record;
begin
  for claim in select distinct payout_id, merchant_id from claimed where payout_id is not null loop
    if not exists (
      select from payouts where id = claim.payout_id and merchant_id = claim.merchant_id and not is_rebuilt
    ) or exists (
      select from balance_transactions where payout_id = claim.payout_id
      having bool_or(kind = 'payout' and source_payout_id = claim.payout_id) and sum(amount_rupiah) <> 0
    ) then
      raise exception 'payout % cannot claim these lines', claim.payout_id using errcode = 'check_violation';
    end if;
  end loop;
  return null;
end $$;
create trigger claim_of_request after update on balance_transactions
  referencing new table as claimed
  for each statement execute function require_claim_of_request();

-- What was requested never changes. The terms can be sealed again with another master key.
create trigger terms_are_final before update on payouts for each row
  when (
    (old.id, old.reference_id, old.merchant_id, old.bank_account_id, old.provider_account_id, old.gross_rupiah,
      old.fee_rupiah, old.amount_rupiah, old.rail, old.payout_policy_id, old.line_count, old.up_to_posting_id,
      old.is_rebuilt, old.approval_kind, old.requested_by, old.requested_at)
    is distinct from (new.id, new.reference_id, new.merchant_id, new.bank_account_id, new.provider_account_id,
      new.gross_rupiah, new.fee_rupiah, new.amount_rupiah, new.rail, new.payout_policy_id, new.line_count,
      new.up_to_posting_id, new.is_rebuilt, new.approval_kind, new.requested_by, new.requested_at)
    or (old.approved_by is not null and new.approved_by is distinct from old.approved_by)
    or (old.submitted_at is not null and new.submitted_at is distinct from old.submitted_at)
    or new.send_count < old.send_count
    or not is_resealed(old.sealed_terms, new.sealed_terms)
  ) execute function forbid_mutation();
create trigger status_is_final before update of status on payouts for each row
  when (old.status in ('cancelled', 'returned') and new.status <> old.status) execute function forbid_mutation();
create trigger begins_as_request before insert on payouts for each row
  when (new.status <> 'requested' or new.version <> 1) execute function forbid_mutation();

-- Whether a member may approve payouts of a merchant: the role permits it for a day, so that the other owners can
-- notice, and the newest credential is as old. The first member, in its first role, has no other one, and a sandbox has
-- no money. Times that the dashboard writes prove nothing: so `created_at` is not compared.
create function authorises_payouts(merchant uuid, person uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (
    select from members member join users on users.id = member.user_id
    where member.merchant_id = merchant and member.user_id = person and member.removed_at is null
      and member.role in ('owner', 'finance') and users.disabled_at is null
      and (greatest(member.role_since, users.credentials_since) <= now() - interval '24 hours'
        or exists (select from installation where environment = 'sandbox')
        -- Alone, or on its first day; nobody of the merchant has reset its login.
        or (member.role_since = member.first_added_at and coalesce(users.link_shown_to, '') not like 'user:%'
          and not exists (
            select from members other
            where other.merchant_id = merchant and other.user_id <> person
              and (other.first_added_at <= member.first_added_at
                or member.first_added_at <= now() - interval '24 hours'))))
  );
end;

-- Whether two actors are two people, as far as it is known: neither saw the link of the other's login, nor did one
-- person see both links, or a link that leads to one.
create function are_two_people(one text, other text) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  with recursive behind (start, person) as (
    values (one, one), (other, other)
    union
    select behind.start, users.link_shown_to
    from behind join users on users.id = case when behind.person like 'user:%' then substr(behind.person, 6)::uuid end
    where users.link_shown_to is not null
  )
  select one <> other
    and not exists (select from behind a join behind b using (person) where a.start = one and b.start = other);
end;

-- Whether a member may approve what this actor of the merchant requests.
create function is_second_user(merchant uuid, person uuid, requester text) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select 'user:' || person <> requester and authorises_payouts(merchant, person)
    and (exists (select from installation where environment = 'sandbox')
      or are_two_people('user:' || person, requester));
end;

-- Whether anybody of the merchant may approve what this actor requests.
create function has_second_user(merchant uuid, requester text) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (
    select from members where merchant_id = merchant and is_second_user(merchant, user_id, requester)
  );
end;

-- A member who could approve payouts, and whose role another one changes or ends, has a day to notice.
create function keep_lost_authority() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if authorises_payouts(old.merchant_id, old.user_id) then new.authorised_until := now(); end if;
  return new;
end $$;
create trigger authorised_until before update on members for each row
  when (new.role <> old.role or (old.removed_at is null and new.removed_at is not null))
  execute function keep_lost_authority();

-- Whether another member has had the role for a day, and does not count, or lost the right in the last day. An operator
-- approves then: else one person would take the voice of the other away, and need none.
create function has_uncounted_user(merchant uuid, requester text) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (
    select from members member join users on users.id = member.user_id
    where member.merchant_id = merchant and 'user:' || member.user_id <> requester
      and (member.authorised_until > now() - interval '24 hours'
        or (member.role in ('owner', 'finance') and member.removed_at is null
          and member.role_since <= now() - interval '24 hours'
          and coalesce(users.disabled_at, 'infinity') > now() - interval '24 hours'))
  ) and not exists (select from installation where environment = 'sandbox');
end;

-- Who approves what an actor of the merchant requests. `none`: the actor is alone.
create function required_approval(merchant uuid, requester text) returns text
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select case
    when has_second_user(merchant, requester) then 'second_user'
    when has_uncounted_user(merchant, requester) then 'operator'
    else 'none'
  end;
end;

-- Whether two operators have approved an action for this version of a payout, and the action is executed now. The
-- resolution is null for an action that has none. A sandbox needs one operator.
create function is_approved_payout_action(wanted_action text, payout uuid, payout_version integer, resolution text)
  returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (select from installation where environment = 'sandbox') or exists (
    select from approvals
    where is_in_execution(approvals, wanted_action)
      and parameters ->> 'payoutId' = payout::text and parameters ->> 'version' = payout_version::text
      and parameters ->> 'resolution' is not distinct from resolution
  );
end;

-- A payout is approved by whom its request determined. A payout that recovery writes again was approved before. The
-- code of this error and of that below is none of PostgreSQL: so an activity tells a missing approval from a defect.
create function require_approved_payout() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not (case
    when new.is_rebuilt then true
    -- The bank may have it. It is not sent, so it needs no approval.
    when new.approved_by = 'workflow' and new.approval_kind <> 'none' then exists (
      select from recovery_mode mode
        join payout_transitions history on history.payout_id = new.id and history.version = 1
      where mode.begun_at > coalesce(mode.ended_at, '-infinity') or history.recorded_at <= mode.ended_at)
    when new.approval_kind = 'none' then new.approved_by = 'workflow'
    when new.approval_kind = 'second_user' then new.approved_by like 'user:%'
      and is_second_user(new.merchant_id, substr(new.approved_by, 6)::uuid, new.requested_by)
    else (new.approved_by like 'operator:%' or new.approved_by like 'cli:%')
      and is_approved_payout_action('payout.approve', new.id, old.version, null)
  end) then
    raise exception 'payout % is not approved by the right people', new.id using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger approval before update of status on payouts for each row
  when (new.status = 'approved' and old.status <> 'approved') execute function require_approved_payout();

-- A schedule approves payouts that it has not requested yet: so the people change it who may request and approve one,
-- and owners notice it. If there are others who do not count as a second person, nobody does. A stop needs no voice.
create function may_change_schedule(settings payout_settings) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select settings.schedule = 'manual'
    or (authorises_payouts(settings.merchant_id, substr(settings.changed_by, 6)::uuid)
      and case required_approval(settings.merchant_id, settings.changed_by)
        when 'second_user' then settings.approved_by like 'user:%'
          and is_second_user(settings.merchant_id, substr(settings.approved_by, 6)::uuid, settings.changed_by)
        when 'operator' then false
        else true
      end);
end;
create function require_authorised_schedule() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.changed_by not like 'user:%' or not coalesce(may_change_schedule(new), false) then
    raise exception '% may not change the payouts of merchant %', new.changed_by, new.merchant_id
      using errcode = 'LN001';
  end if;
  perform write_notice(new.merchant_id, 'payout.schedule_changed', substr(new.changed_by, 6)::uuid);
  return new;
end $$;
create trigger approval before insert or update on payout_settings for each row
  execute function require_authorised_schedule();

-- The other members have to see that there is something to approve.
create function notice_proposed_schedule() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(new.merchant_id, 'payout.schedule_proposed', substr(new.proposed_by, 6)::uuid);
  return null;
end $$;
create trigger notice after insert or update on proposed_payout_settings for each row
  execute function notice_proposed_schedule();

-- Whether a proposed bank account waits for a second member of its merchant. An operator's proposal has its own two.
create function waits_for_member(bank_account uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (
    select from bank_accounts
    where id = bank_account and status in ('pending_inquiry', 'pending_approval') and confirmed_by is null
      and proposed_by like 'user:%' and required_approval(merchant_id, proposed_by) = 'second_user'
  );
end;

create function require_second_member() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if waits_for_member(new.id) then
    raise exception 'bank account % is not confirmed by a second member', new.id using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger second_member before update of status on bank_accounts for each row
  when (old.status = 'pending_approval' and new.status = 'active') execute function require_second_member();

-- Only a second person confirms, once, and the holder's name that the bank has reported.
create function require_second_person() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if old.confirmed_by is not null or old.status <> 'pending_approval' or new.status <> old.status
    or new.confirmed_by not like 'user:%'
    or not is_second_user(new.merchant_id, substr(new.confirmed_by, 6)::uuid, new.proposed_by) then
    raise exception '% may not confirm bank account %', new.confirmed_by, new.id using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger second_person before update of confirmed_by on bank_accounts for each row
  when (new.confirmed_by is distinct from old.confirmed_by) execute function require_second_person();

-- Each status of a bank account, and what went wrong with a payout or waits for a member.
create function notice_money() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(new.merchant_id, tg_argv[0] || new.status, new.id);
  return null;
end $$;
create trigger notice after insert on bank_accounts for each row execute function notice_money('bank_account.');
create trigger notice_of_change after update of status on bank_accounts for each row
  when (new.status <> old.status) execute function notice_money('bank_account.');
create trigger notice_of_failure after update of status on payouts for each row
  when (new.status in ('failed', 'returned') and new.status <> old.status) execute function notice_money('payout.');
create function notice_waiting_payout() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(new.merchant_id, 'payout.waiting_for_approval', new.id);
  return null;
end $$;
create trigger notice after insert on payouts for each row
  when (new.approval_kind = 'second_user' and not new.is_rebuilt) execute function notice_waiting_payout();

-- What an operator resolves or sends again needs a second one in production.
create function require_approved_resolution() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  wanted constant text := case new.name when 'resend' then 'payout.resend' else 'payout.resolve' end;
  -- `completed` of `resolve_failed_as_completed`.
  resolution constant text := nullif(split_part(new.name, '_as_', 2), '');
begin
  if not is_approved_payout_action(wanted, new.payout_id, new.version - 1, resolution) then
    raise exception '% of payout % is not approved by two operators', new.name, new.payout_id using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger two_operators before insert on payout_transitions for each row
  when (new.name in ('resolve_as_completed', 'resolve_as_failed', 'resolve_as_returned', 'resolve_failed_as_completed')
    or (new.name = 'resend' and new.actor <> 'workflow'))
  execute function require_approved_resolution();

-- Requests and keys --------------------------------------------------------------------------------------------------

-- The newest requests to the API, for `lunas logs`: no body, no header, no query, no secret.
create table api_requests (
  id bigint generated always as identity primary key,
  -- `X-Request-Id`. Callers choose it, so that several requests can have the same.
  request_id text not null,
  started_at timestamptz not null,
  -- The key of a merchant or of an operator. Null: none was accepted.
  key_id uuid,
  -- The merchant of the key. Null: the key of an operator, or none.
  merchant_id uuid,
  method text not null,
  path text not null,
  -- Null: the connection was closed before the response was complete.
  status smallint,
  duration_ms integer not null,
  error_code text,
  error_reason text, -- `X-Error-Reason`
  error_detail text, -- for operators, with nothing of a body or a key
  -- Names of `X-Ignored-Fields` and `X-Ignored-Parameters`.
  ignored_fields text[] not null default '{}',
  ignored_parameters text[] not null default '{}',
  payment_ids uuid[] not null default '{}',
  -- For readers that follow: rows do not become visible in the order of their ids.
  recorded_xid xid8 not null default pg_current_xact_id()
);
create index api_requests_request_id_idx on api_requests (request_id);
-- The pages of a merchant read a range of time.
create index api_requests_merchant_id_idx on api_requests (merchant_id, started_at desc, id desc)
  where merchant_id is not null;
create index api_requests_recorded_xid_idx on api_requests (recorded_xid);

-- The ids of the master keys that sealed the values of this database. Its reader needs no access to the values.
-- Payments have details by the million: each key id costs one look-up in the index instead of a scan.
create view sealing_key_ids as
  with recursive of_details as (
    select min(split_part(sealed, '.', 2)) as key_id from payment_details
    union all
    select (select min(split_part(sealed, '.', 2)) from payment_details where split_part(sealed, '.', 2) > key_id)
    from of_details where key_id is not null
  )
  select key_id from (
    select key_id from of_details
    union select split_part(sealed_server_key, '.', 2) from provider_accounts
    union select split_part(proposed_server_key, '.', 2) from provider_accounts where proposed_server_key is not null
    union select split_part(sealed_credentials, '.', 2) from provider_accounts where sealed_credentials is not null
    union select split_part(sealed_secret, '.', 2) from webhook_secrets
    union select split_part(sealed, '.', 2) from retired_keys
    union select split_part(sealed_totp, '.', 2) from users where sealed_totp is not null
    union select split_part(sealed_number, '.', 2) from bank_accounts where sealed_number is not null
    union select split_part(sealed_holder_name, '.', 2) from bank_accounts where sealed_holder_name is not null
    union select split_part(sealed_terms, '.', 2) from payouts
  ) in_use where key_id <> '';

-- Retention and the archive ------------------------------------------------------------------------------------------

-- One row for each run of retention.
create table retention_runs (
  id bigint generated always as identity primary key,
  started_at timestamptz(3) not null unique,
  ended_at timestamptz(3) not null default now(),
  is_complete boolean not null,
  -- The number of deleted rows, by kind of data.
  deleted jsonb not null,
  -- Where the next run begins, by kind of data: before it are only deleted rows, whose index entries may still exist.
  positions jsonb not null
);
create index retention_runs_complete_idx on retention_runs (id) where is_complete;

-- Totals of payments, for figures: a page must not count payments. The worker adds the transitions to them
-- (payment-totals.ts), so they are some seconds old. The archive leaves them as they are: they count its payments too.
-- The key includes the sums, because the rows of one merchant are spread over the table.
create table payment_hour_totals (
  merchant_id uuid not null references merchants,
  status text not null,
  hour timestamptz(0) not null, -- of the creation
  provider text not null,
  payments integer not null,
  total_rupiah bigint not null,
  net_rupiah bigint not null,
  primary key (merchant_id, status, hour, provider) include (payments, total_rupiah, net_rupiah)
);

-- Up to which number the totals count the transitions; up to which posting the open days count the lines of balances;
-- and how far the nightly pass is.
create table totals_progress (
  is_only boolean primary key default true check (is_only), -- one row
  counted_at timestamptz(3) not null, -- the last time when everything was counted
  transition_number bigint not null default 0,
  line_posting_id bigint not null default 0,
  recomputed_on date not null, -- the last complete pass, in WIB
  recomputed_merchant uuid, -- the last one of the pass that runs; null: none runs
  recomputed_until timestamptz(3) -- up to which hour of its payments; null: all of them
);
insert into totals_progress (counted_at, recomputed_on) values ('epoch', 'epoch');

-- The available balance of a merchant: the newest closing, the sums of counted lines since, and the few lines that are
-- not counted. It is the sum of all lines, and of the unclaimed ones: those of a payout are zero together. The upper
-- bound of the range is for the planner, which expects few rows then.
create function available_balance(merchant uuid) returns bigint language sql stable as $$
  with uncounted as materialized (
    select merchant_id, booked_on as day, amount_rupiah from balance_transactions
    where posting_id > (select line_posting_id from totals_progress) and posting_id <= 9007199254740991
  ),
  changes as (
    select day, credit_rupiah - debit_rupiah as rupiah from open_balance_days where merchant_id = merchant
    union all
    select day, amount_rupiah from uncounted where merchant_id = merchant
  )
  select (coalesce((
    select closing_rupiah from balance_days where merchant_id = merchant order by day desc limit 1
  ), 0) + coalesce((
    select sum(rupiah) from changes where day > coalesce((select max(day) from closed_days), '-infinity')
  ), 0))::bigint
$$;

-- A file of `lunas archive`: payments that were created on one day, in UTC. The file is outside the database. Its name
-- has the day and the id.
create table archive_files (
  id bigint generated always as identity primary key,
  day date not null,
  -- Null: a run was stopped in the middle of the file. The next run continues it.
  completed_at timestamptz(3),
  sha256 bytea check (octet_length(sha256) = 32),
  -- The run of `lunas archive` that may write the file. Each run writes a file of its own: a run that takes over copies
  -- the recorded batches.
  run_id uuid,
  constraint archive_files_checksum_if_completed check ((completed_at is null) = (sha256 is null))
);
-- The files that are not complete; at most one for each day.
create unique index archive_files_incomplete_key on archive_files (day) where completed_at is null;

-- Payments that were written to the file and removed here by one transaction. `end_byte` is the size of the file then.
create table archive_batches (
  id bigint generated always as identity primary key,
  file_id bigint not null references archive_files,
  end_byte bigint not null check (end_byte > 0),
  payment_count integer not null check (payment_count > 0),
  archived_at timestamptz(3) not null default now(),
  -- Of the batch's bytes. The file is compared with it before it is complete.
  sha256 bytea not null check (octet_length(sha256) = 32)
);
create index archive_batches_file_id_idx on archive_batches (file_id, end_byte);

-- What stays of a payment for good: its idempotency key must never create a second payment. The key determines the id.
create table archived_payments (
  payment_id uuid primary key,
  reference_id text not null unique,
  merchant_id uuid not null references merchants,
  batch_id bigint not null references archive_batches,
  received_money boolean not null -- whether the provider received money for it
);

-- Money that came for an archived payment that was never paid. It is in suspense until an operator gives it back.
create table archived_late_payments (
  payment_id uuid primary key references archived_payments,
  merchant_id uuid not null references merchants,
  total_rupiah bigint not null check (total_rupiah > 0),
  provider_transaction_id text not null,
  paid_at timestamptz(3) not null,
  received_at timestamptz(3) not null,
  refunded_at timestamptz(3)
);

-- The sums of the entries that were removed, by the day on which their payments were created. All entries of the
-- ledger are those in `ledger_entries` and these.
create table ledger_closings (
  day date not null,
  merchant_id uuid not null references merchants,
  account text not null,
  debit_rupiah bigint not null check (debit_rupiah >= 0),
  credit_rupiah bigint not null check (credit_rupiah >= 0),
  primary key (day, merchant_id, account)
);

-- What the archive may take: final payments that nothing will change any more, and whose ledger was verified.
-- Temporal has no workflow of a payment that ended a week ago, and the event stream has only newer events.
create view archivable_payments with (security_invoker = true) as
select id, reference_id, merchant_id, created_at from payments
where (status || '') in ('expired', 'settled', 'failed', 'cancelled', 'refunded')
  and updated_at < now() - interval '7 days'
  and not exists (
    select from late_payments late where late.payment_id = payments.id and late.status in ('received', 'submitted')
  )
  and not exists (
    select from webhook_deliveries delivery
    where delivery.payment_id = payments.id and (delivery.status = 'pending' or delivery.leased_until > now())
  )
  and not exists (
    select from provider_notifications notification
    where notification.reference_id = payments.reference_id and notification.closed_at is null
  )
  and not exists (
    select from exceptions where exceptions.payment_id = payments.id and exceptions.resolved_at is null
  )
  and not exists (
    select from payment_transitions transition
    where transition.payment_id = payments.id and transition.recorded_at >= (
      select recorded_until from ledger_verifications order by id desc limit 1
    )
  )
  and not exists (
    select from ledger_postings posting
    where posting.payment_id = payments.id and posting.id > (
      select posting_id from ledger_verifications order by id desc limit 1
    )
  )
  and exists (select from ledger_verifications);

-- A payment with all its rows, a line of an archive file (docs/archive.md). What others wrote about a customer is not
-- in it: an erasure could not reach it there.
create function payment_document(payment payments) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object(
    'format', 1,
    'payment', to_jsonb(payment),
    'transitions', (
      select coalesce(jsonb_agg(to_jsonb(payment_transitions) - 'number' order by version), '[]')
      from payment_transitions where payment_transitions.payment_id = payment.id
    ),
    'refunds', (
      select coalesce(jsonb_agg(to_jsonb(refunds) order by number), '[]')
      from refunds where refunds.payment_id = payment.id
    ),
    'late_payments', (
      select coalesce(jsonb_agg(to_jsonb(late_payments) order by received_at), '[]')
      from late_payments where late_payments.payment_id = payment.id
    ),
    'postings', (
      select coalesce(jsonb_agg(to_jsonb(posting) || jsonb_build_object('entries', (
        select coalesce(jsonb_agg(to_jsonb(entry) order by line), '[]')
        from ledger_entries entry where entry.posting_id = posting.id
      )) order by id), '[]') from ledger_postings posting where posting.payment_id = payment.id
    ),
    'webhook_events', (
      select coalesce(jsonb_agg(to_jsonb(webhook_events) order by payment_version), '[]')
      from webhook_events where webhook_events.payment_id = payment.id
    ),
    'late_payment_events', (
      select coalesce(jsonb_agg(to_jsonb(late_payment_events) order by late_payment_version), '[]')
      from late_payment_events where late_payment_events.payment_id = payment.id
    ),
    'webhook_deliveries', (
      select coalesce(jsonb_agg(to_jsonb(delivery) || jsonb_build_object('attempts', (
        select coalesce(jsonb_agg(to_jsonb(attempt) - 'response_excerpt' order by number), '[]')
        from webhook_attempts attempt where attempt.delivery_id = delivery.id
      )) order by created_at, id), '[]') from webhook_deliveries delivery where delivery.payment_id = payment.id
    ),
    'exceptions', (
      select coalesce(jsonb_agg(to_jsonb(exceptions) order by opened_at), '[]')
      from exceptions where exceptions.payment_id = payment.id
    )
  );
end;

-- Removes payments that a file has now, with all their rows, and carries their sums over. The caller has locked the
-- payments (`for update`) and written the file in this transaction. It is the only way to delete from the ledger. It
-- writes the SHA-256 of the removed lines into the audit log, whoever calls it: so a file without them is found. It
-- raises `restrict_violation` if a payment cannot be archived any more: the caller then repeats the batch without it.
create function archive_payments(ids uuid[], batch bigint) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  archived integer;
  removed bytea;
  recorded bigint;
begin
  select sha256(convert_to(string_agg(payment_document(payments)::text || E'\n', '' order by created_at, id), 'utf8'))
    into removed from payments where id = any (ids);
  insert into archived_payments (payment_id, reference_id, merchant_id, batch_id, received_money)
  select id, reference_id, merchant_id, batch,
    payments.paid_at is not null or exists (select from late_payments where late_payments.payment_id = id)
  from archivable_payments join payments using (id, reference_id, merchant_id) where id = any (ids);
  get diagnostics archived = row_count;
  if archived <> cardinality(ids) then
    raise exception '% of % payments cannot be archived', cardinality(ids) - archived, cardinality(ids)
      using errcode = 'restrict_violation';
  end if;

  insert into ledger_closings as closing (day, merchant_id, account, debit_rupiah, credit_rupiah)
  select (payments.created_at at time zone 'utc')::date, payments.merchant_id, entry.account,
    coalesce(sum(entry.amount_rupiah) filter (where entry.side = 'debit'), 0),
    coalesce(sum(entry.amount_rupiah) filter (where entry.side = 'credit'), 0)
  from payments
  join ledger_postings posting on posting.payment_id = payments.id
  join ledger_entries entry on entry.posting_id = posting.id
  where payments.id = any (ids)
  group by 1, 2, 3
  on conflict (day, merchant_id, account) do update
    set debit_rupiah = closing.debit_rupiah + excluded.debit_rupiah,
      credit_rupiah = closing.credit_rupiah + excluded.credit_rupiah;

  delete from webhook_attempts attempt using webhook_deliveries delivery
  where attempt.delivery_id = delivery.id and delivery.payment_id = any (ids);
  -- A redelivery may have committed after the first statement. It stays, and so does its payment.
  delete from webhook_deliveries where payment_id = any (ids) and status <> 'pending' and leased_until <= now();
  if exists (select from webhook_deliveries where payment_id = any (ids)) then
    raise exception 'a webhook of these payments is delivered again' using errcode = 'restrict_violation';
  end if;
  delete from webhook_events where payment_id = any (ids);
  delete from payment_details where payment_id = any (ids);
  delete from refunds where payment_id = any (ids);
  delete from late_payment_events where payment_id = any (ids);
  delete from late_payments where payment_id = any (ids);
  delete from ledger_entries entry using ledger_postings posting
  where entry.posting_id = posting.id and posting.payment_id = any (ids);
  delete from ledger_postings where payment_id = any (ids);
  delete from payment_transitions where payment_id = any (ids);
  -- An exception stays, by its reference.
  update exceptions set payment_id = null where payment_id = any (ids);
  delete from payments where id = any (ids);

  insert into operator_actions (actor, via, action, target, detail)
  values ('operator', 'database', 'archive.remove', batch::text,
    json_build_object('payments', archived, 'sha256', encode(removed, 'hex'))::text)
  returning id into recorded;
  insert into operator_action_outcomes (action_id, outcome) values (recorded, 'succeeded');
end $$;

-- Rows of archived payments can be deleted; all others cannot.
create function forbid_deletion_unless_archived() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  payment uuid;
begin
  if tg_table_name = 'ledger_entries' then
    select payment_id into payment from ledger_postings where id = old.posting_id;
  else
    payment := old.payment_id;
  end if;
  if exists (select from archived_payments where payment_id = payment) then return old; end if;
  raise exception '% is append-only: delete rejected', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger append_only_delete before delete on payment_transitions
  for each row execute function forbid_deletion_unless_archived();
create trigger append_only_delete before delete on late_payment_events
  for each row execute function forbid_deletion_unless_archived();
create trigger append_only_delete before delete on ledger_postings
  for each row execute function forbid_deletion_unless_archived();
create trigger append_only_delete before delete on ledger_entries
  for each row execute function forbid_deletion_unless_archived();

-- Settlements and refunds that two operators decide -----------------------------------------------------------------

create function is_within_approval_limit(total_rupiah bigint) returns boolean language sql stable
  return total_rupiah <= (select limit_rupiah from approval_limits order by id desc limit 1);

-- Each of them is rare: the steps of a workflow without an operator do not come here. An approval is for one version of
-- the payment. A refund has none: one that is booked as refunded is final.
create function require_approved_payment_action() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed jsonb := to_jsonb(new);
  payment text := coalesce(changed ->> 'payment_id', changed ->> 'id');
begin
  if needs_two_operators()
    and not (tg_argv[0] = 'settle' and is_within_approval_limit((changed ->> 'total_rupiah')::bigint))
    and not exists (
      select from approvals
      where is_in_execution(approvals, tg_argv[0]) and parameters ->> 'paymentId' = payment
        and coalesce((parameters ->> 'version')::int = (changed ->> 'version')::int - 1, not changed ? 'version')
    )
  then
    raise exception '% of payment % is not approved by two operators', tg_argv[0], payment using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger two_operators_settle before update of status on payments for each row
  when (new.status = 'settled' and new.settlement_kind = 'manual')
  execute function require_approved_payment_action('settle');
create trigger two_operators_resolve before update of status on payments for each row
  when (old.status = 'refund_failed' and new.status = 'paid')
  execute function require_approved_payment_action('resolveRefundAsPaid');
create trigger two_operators before update of is_manual on refunds for each row
  when (new.is_manual and not old.is_manual)
  execute function require_approved_payment_action('resolveRefundAsRefunded');

-- Whether an operator may record that the customer has the money of a late payment, also of an archived payment.
create function is_approved_manual_refund(payment uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select not needs_two_operators() or exists (
    select from (
      select reference_id, late.total_rupiah from late_payments late join payments on payments.id = late.payment_id
      where late.payment_id = payment
      union all
      select reference_id, total_rupiah from archived_late_payments join archived_payments using (payment_id)
      where payment_id = payment
    ) late
    where is_within_approval_limit(late.total_rupiah) or exists (
      select from exceptions join approvals on approvals.parameters ->> 'exceptionId' = exceptions.id::text
      where exceptions.kind = 'late_payment' and exceptions.reference_id = late.reference_id
        and exceptions.amount_rupiah = late.total_rupiah
        and is_in_execution(approvals, 'exception.resolve_as_refunded')
    )
  );
end;

create function require_approved_manual_refund() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if not is_approved_manual_refund(new.payment_id) then
    raise exception 'the refund of late payment % is not approved by two operators', new.payment_id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
-- A worker records only what the provider has refunded.
create trigger two_operators before update of status on late_payments for each row
  when (new.status = 'refunded' and old.status <> 'refunded'
    and (new.is_manual or not acts_as_worker()))
  execute function require_approved_manual_refund();
-- A refund is requested for an open late payment, so none is open again. An operator only books it as refunded.
create trigger status_is_final before update of status on late_payments for each row
  when (new.status <> old.status and (old.status = 'refunded'
    or new.status <> 'refunded' and not acts_as_worker()))
  execute function forbid_mutation();
create trigger two_operators before update of refunded_at on archived_late_payments for each row
  execute function require_approved_manual_refund();
create policy manual_refunds on ledger_postings for insert to lunas_api, lunas_operator
  with check (late_payment_step = 'refund_manually' and is_approved_manual_refund(payment_id));

-- Append-only tables -------------------------------------------------------------------------------------------------

-- What no statement does to a row, nor to the whole table. What depends on the row is in a trigger beside the table.
do $$
declare
  kept text;
  forbidden text;
begin
  for kept, forbidden in
    select unnest(tables), events from (values
      ('update or delete', array['installation', 'ledger_verifications', 'ledger_verification_results', 'ended_days',
        'closed_days', 'balance_days', 'reconciliation_runs', 'operator_actions', 'operator_action_outcomes',
        'audit_chain', 'audit_chain_lock', 'approval_decisions', 'approval_limits', 'user_actions',
        'user_action_outcomes', 'merchant_operator_actions', 'bank_account_transitions', 'payout_limits',
        'payout_policies', 'payout_stops', 'payout_transitions', 'payout_events', 'retention_runs', 'archive_batches',
        'archived_payments']),
      -- Of these some columns change.
      ('delete', array['recovery_mode', 'approvals', 'bank_accounts', 'payouts', 'ledger_closings']),
      -- Of these retention or the archive deletes rows.
      ('update', array['webhook_events', 'payment_transitions', 'late_payment_events', 'ledger_postings',
        'ledger_entries'])
    ) as rules (events, tables)
  loop
    execute format('create trigger append_only before %s on %I for each row execute function forbid_mutation()',
      forbidden, kept);
    execute format('create trigger append_only_truncate before truncate on %I execute function forbid_mutation()',
      kept);
  end loop;
end $$;

-- Rights -------------------------------------------------------------------------------------------------------------

-- What each process and command compares at its start.
grant select on installation, schema_migrations, sealing_key_ids
  to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_operator;
grant select on installation, schema_migrations to lunas_reader;
grant select on recovery_mode to lunas_api, lunas_worker, lunas_payouts, lunas_operator, lunas_reader;
grant update (begun_at, begun_by, reason) on recovery_mode to lunas_worker, lunas_payouts, lunas_operator;
grant update (timeline, ended_at) on recovery_mode to lunas_operator;

-- Payments. The writers of src/db/transitions run in the worker. `lunas recover` writes lost rows again, and
-- `lunas archive` locks rows, which needs the right to change a column. An operator, at the API or the command line,
-- books the manual refund of a late payment.
grant select on payments, payment_transitions, refunds, late_payments, ledger_postings, ledger_entries
  to lunas_api, lunas_worker, lunas_operator;
grant insert on payments, payment_transitions to lunas_worker, lunas_operator;
grant update (updated_at) on payments to lunas_worker, lunas_operator;
grant update (status, version, failure_reason, qris_payload, provider_transaction_id, paid_at, cancelled_at,
  settlement_due_at) on payments to lunas_worker;
grant insert on refunds, late_payments to lunas_worker;
grant update (status, submitted_at, finished_at, provider_reference, failure_reason, is_manual)
  on refunds, late_payments to lunas_worker;
grant update (status, finished_at, provider_reference, is_manual) on late_payments to lunas_api, lunas_operator;
grant insert on ledger_postings, ledger_entries to lunas_api, lunas_worker, lunas_payouts, lunas_operator;
grant select, insert on ledger_verifications, ledger_verification_results to lunas_operator;
grant select on ledger_verification_results to lunas_worker;

-- Balance. A trigger of the ledger writes lines, and the worker closes days: no role has more than these rights.
grant select on balance_transactions, ended_days, closed_days, balance_days, open_balance_days
  to lunas_operator, lunas_reader;
grant select on balance_transactions, closed_days to lunas_worker;
revoke execute on function book_balance_transaction, end_days_until, end_days, close_next_day from public;
grant execute on function end_days, close_next_day to lunas_worker;

-- Personal data. The API adds it and shows it to its merchant (`?expand=`), operators show and erase it. The worker
-- deletes what is older than its retention, and sends it to endpoints that add it.
grant select (payment_id, fingerprint, sealed), insert on payment_details to lunas_api;
grant select (payment_id, fingerprint, created_at), delete on payment_details to lunas_worker;
revoke execute on function webhook_details from public;
grant execute on function webhook_details to lunas_worker;
grant select, update (sealed), delete on payment_details to lunas_operator;

-- Exceptions and reconciliation.
grant select on exceptions to lunas_api, lunas_worker, lunas_operator;
grant insert on exceptions to lunas_worker, lunas_operator;
grant update (resolved_at, resolved_by, note) on exceptions to lunas_api, lunas_operator;
revoke execute on function close_exceptions from public;
grant execute on function close_exceptions to lunas_worker, lunas_operator;
grant select, insert on reconciliation_runs to lunas_worker, lunas_operator;
grant select, insert, update, delete on indeterminate_orders to lunas_worker, lunas_operator;

-- Notifications of providers.
grant select (id, provider_account_id, reference_id, body_sha256, received_at, closed_at, notify_attempts,
  next_notify_at, reported_status, dedupe_key_sha256, signed_sha256), insert on provider_notifications
  to lunas_api, lunas_worker, lunas_operator;
grant update (closed_at, next_notify_at) on provider_notifications to lunas_api, lunas_worker, lunas_operator;
grant update (notify_attempts), delete on provider_notifications to lunas_worker;
grant update (body) on provider_notifications to lunas_operator; -- `lunas customers erase`

-- Webhooks. A redelivery locks the endpoints, which needs the right to change a column: so the API has `claim_number`.
grant select on webhook_endpoints, webhook_deliveries to lunas_api, lunas_worker, lunas_operator;
grant select on webhook_events, webhook_secrets to lunas_worker, lunas_operator;
grant select on late_payment_events to lunas_api, lunas_dashboard, lunas_worker, lunas_operator;
grant select (payment_id, late_payment_version, event, occurred_at) on late_payment_events to lunas_reader;
grant select (payment_id, payment_version, event, body, occurred_at, recorded_xid) on webhook_events to lunas_api;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure) on webhook_attempts to lunas_api;
grant insert on webhook_events, webhook_deliveries to lunas_worker, lunas_operator;
grant update (status, dead_reason, finished_at, retry_workflow_started_at, leased_until, attempts_in_cycle, queued_at)
  on webhook_deliveries to lunas_api, lunas_worker, lunas_operator;
grant update (redelivered_xid) on webhook_deliveries to lunas_api, lunas_operator;
grant update (attempts_total) on webhook_deliveries to lunas_worker;
grant delete on webhook_events, webhook_deliveries, webhook_attempts to lunas_worker;
grant select (delivery_id), insert on webhook_attempts to lunas_worker;
grant select, update (response_excerpt) on webhook_attempts to lunas_operator;
grant update (claim_number) on webhook_endpoints to lunas_api, lunas_worker, lunas_operator;
grant update (status, disabled_reason, consecutive_failures, failing_since, next_probe_at) on webhook_endpoints
  to lunas_worker, lunas_operator;
grant update (url, events, expand, deleted_at) on webhook_endpoints to lunas_operator;
grant insert on webhook_endpoints, webhook_secrets to lunas_operator;
grant update (sealed_secret, expires_at) on webhook_secrets to lunas_operator;

-- Merchants, catalog and access.
grant select on merchants, retired_keys to lunas_api, lunas_worker, lunas_payouts, lunas_operator;
grant select on policies to lunas_api, lunas_worker, lunas_operator;
grant select (id, purpose, provider, adapter, base_url, sealed_server_key, weight, status, created_at,
  calls_per_second, nmid, key_fingerprint, proposed_server_key, proposed_key_fingerprint, proposed_nmid)
  on provider_accounts to lunas_api, lunas_worker;
grant select on provider_accounts to lunas_operator; -- the credentials for `lunas keys reseal`
grant insert on merchants, policies, provider_accounts, retired_keys to lunas_operator;
grant update (held_at) on merchants to lunas_api, lunas_operator;
grant update (status, fee_payer, providers, payment_method_active, return_url, checkout_origins, contact)
  on merchants to lunas_operator;
grant update (status, sealed_server_key, sealed_credentials, calls_per_second, nmid, key_fingerprint,
  proposed_server_key, proposed_key_fingerprint, proposed_nmid) on provider_accounts to lunas_operator;
revoke execute on function stop_provider_account from public;
grant execute on function stop_provider_account to lunas_worker;
-- Every process that calls a provider: the worker, operators at the command line, and operators at the API.
grant select, insert, update on provider_call_schedules to lunas_api, lunas_worker, lunas_operator;
grant update (sealed) on retired_keys to lunas_operator;
grant select on api_keys, operators to lunas_api, lunas_operator;
grant insert, update (revoked_at) on api_keys to lunas_operator;
-- Not `created_at`: a new key decides nothing for a day.
grant insert (id, name, secret_sha256, prefix, last_four, allowed_networks, scopes, expires_at, created_by,
  is_approved, login) on operators to lunas_operator;
grant update (is_approved, revoked_at, secret_sha256, prefix, last_four) on operators to lunas_operator;
grant update (last_used_at, last_used_from) on api_keys to lunas_api;
grant select, insert, update, delete on rate_limits to lunas_api;
grant insert, select (id), delete on api_requests to lunas_api;
grant select on api_requests to lunas_operator;

-- Approvals. The API requests them; operators decide at the command line.
grant select, insert (action, target, parameters, note, requested_by, amount_rupiah, expected_version) on approvals
  to lunas_api, lunas_operator;
grant update (status, decided_by, decided_at, leased_until, failure_reason) on approvals to lunas_operator;
grant select, insert on approval_decisions to lunas_operator;
grant select on approval_limits to lunas_api, lunas_operator;
grant insert on approval_limits to lunas_operator;

-- The audit log.
grant select, insert on operator_actions, operator_action_outcomes to lunas_api, lunas_operator;
grant select on audit_chain, audit_chain_lock to lunas_operator;
revoke execute on function append_to_audit_chain, record_decision, require_approved_limit, require_approved_policy,
  require_approved_account, require_approved_key, require_approved_operator from public;

-- People. The dashboard signs users in; operators invite the first owner, reset and disable; the worker deletes what is
-- expired.
grant select on merchants to lunas_dashboard;
grant select, insert, update, delete on rate_limits to lunas_dashboard;
grant select on users, members, passkeys, recovery_codes, sessions, sign_in_links, user_actions, user_action_outcomes
  to lunas_dashboard;
grant insert (id, realm, email, name, language, password_hash, password_changed_at, created_at) on users
  to lunas_dashboard;
grant update (name, language, password_hash, password_changed_at, sealed_totp, totp_hmac, totp_last_step) on users
  to lunas_dashboard;
grant insert, update (role, invited_by, created_at, removed_at, last_seen_at) on members to lunas_dashboard;
grant insert, delete, update (counter, name, is_backed_up, last_used_at) on passkeys to lunas_dashboard;
grant insert, delete, update (used_at) on recovery_codes to lunas_dashboard;
grant insert, update (user_id, token_sha256, stage, method, challenge, challenge_expires_at, last_seen_at, expires_at,
  stepped_up_at, ended_at) on sessions to lunas_dashboard;
grant insert, update (expires_at, used_at) on sign_in_links to lunas_dashboard;
grant insert on user_actions, user_action_outcomes to lunas_dashboard;
grant select on merchant_operator_actions to lunas_dashboard;
grant select on merchant_notices, merchant_notice_closings to lunas_dashboard;
revoke execute on function write_notice, close_notices, note_wrong_codes from public;
grant execute on function close_notices, note_wrong_codes to lunas_dashboard;
grant update (time_zone, return_url, checkout_origins, contact, accent) on merchants to lunas_dashboard;
grant select, insert, update (png, width, height), delete on merchant_logos to lunas_dashboard;
grant select on merchant_logos to lunas_api;
grant select (merchant_id), delete on merchant_logos to lunas_operator; -- an abusive one
grant select (id, realm, email, name, language, sealed_totp, password_changed_at, credentials_since, link_shown_to,
  disabled_at, created_at) on users to lunas_operator; -- `lunas keys reseal` reads the sealed column
grant insert (id, realm, email, name, language, created_at), update (disabled_at, sealed_totp) on users
  to lunas_operator;
grant insert on members to lunas_operator; -- the demo owner of `lunas up`
grant select on members, user_actions, user_action_outcomes to lunas_operator;
grant select (id, user_id, realm, rp_id) on passkeys to lunas_operator;
grant select (id, realm, user_id, stage, method, created_at, last_seen_at, expires_at, ended_at), update (ended_at)
  on sessions to lunas_operator;
grant select (id, realm, kind, user_id, email, merchant_id, role, created_by, created_at, expires_at, used_at), insert,
  update (expires_at) on sign_in_links to lunas_operator;
grant select (id, realm, email, language) on users to lunas_worker;
grant select (id, expires_at), delete on sessions, sign_in_links to lunas_worker;
grant select on members to lunas_reader;

-- The pages of merchants. They read what a merchant may see, and request every change of a payment from its workflow:
-- so there is no right to write payments, refunds or the ledger, and none to see a server key or a webhook secret.
grant select on payments, payment_transitions, refunds, late_payments, ledger_postings, ledger_entries, policies,
  archived_payments, archive_files, archive_batches, recovery_mode, retired_keys, webhook_deliveries,
  balance_transactions, ended_days, closed_days, balance_days, open_balance_days
  to lunas_dashboard;
grant select (id, merchant_id, url, events, expand, status, disabled_reason, created_at, consecutive_failures,
  failing_since, next_probe_at, deleted_at), insert,
  update (url, events, expand, status, disabled_reason, consecutive_failures, failing_since, next_probe_at, deleted_at)
  on webhook_endpoints to lunas_dashboard;
grant select (id, endpoint_id, created_at, expires_at), insert, update (expires_at) on webhook_secrets
  to lunas_dashboard;
grant select (payment_id, payment_version, event, body, occurred_at) on webhook_events to lunas_dashboard;
grant update (status, dead_reason, finished_at, retry_workflow_started_at, leased_until, attempts_in_cycle, queued_at,
  redelivered_xid) on webhook_deliveries to lunas_dashboard;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure, response_excerpt)
  on webhook_attempts to lunas_dashboard;
grant select (id, purpose, provider, adapter, base_url, weight, status, created_at) on provider_accounts
  to lunas_dashboard;
-- The dashboard records each reading of the sealed column.
grant select (payment_id, fingerprint, sealed), insert on payment_details to lunas_dashboard;
grant select (id, merchant_id, prefix, last_four, allowed_networks, created_at, revoked_at, scopes, expires_at,
  last_used_at, last_used_from, name, created_by) on api_keys to lunas_dashboard;
grant insert, update (name, allowed_networks, expires_at, revoked_at) on api_keys to lunas_dashboard;
grant select (id, request_id, started_at, key_id, merchant_id, method, path, status, duration_ms, error_code,
  error_reason, ignored_fields, ignored_parameters, payment_ids) on api_requests to lunas_dashboard;

-- Bank accounts. The dashboard adds a number and reads none. Only workers with the role `payouts` open it, for the name
-- inquiry and for each call to the bank; operators only seal it again (`lunas keys reseal`).
grant select, insert on bank_account_transitions to lunas_payouts, lunas_operator;
grant insert on bank_account_transitions to lunas_dashboard;
grant select on bank_account_transitions to lunas_dashboard, lunas_reader;
grant select on bank_accounts to lunas_payouts, lunas_operator;
grant select (id, merchant_id, bank_code, last_four, sealed_holder_name, name_match, status, version, proposed_by,
  confirmed_by, inquired_at, usable_from, failure_reason, created_at, updated_at) on bank_accounts to lunas_dashboard;
grant insert (id, merchant_id, bank_code, sealed_number, number_hmac, last_four, status, version, proposed_by,
  created_at, updated_at) on bank_accounts to lunas_dashboard, lunas_operator;
grant update (status, version, confirmed_by, updated_at) on bank_accounts to lunas_dashboard;
grant update (sealed_holder_name, name_match, same_number_merchants, status, version, inquired_at, failure_reason,
  updated_at) on bank_accounts to lunas_payouts;
grant update (status, version, usable_from, failure_reason, updated_at, sealed_number, sealed_holder_name)
  on bank_accounts to lunas_operator;
grant select on payout_limits
  to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_operator, lunas_reader;
grant insert on payout_limits to lunas_operator;
revoke execute on function is_approved_manual_refund, require_approved_payment_action from public;
grant execute on function is_approved_manual_refund to lunas_api, lunas_operator;
revoke execute on function require_approved_link, is_still_permitted, require_still_permitted,
  require_approved_bank_account, require_cooldown, require_day_of_limits, require_approved_row from public;
grant execute on function is_still_permitted to lunas_dashboard;
revoke execute on function confirm_user from public;
grant execute on function confirm_user to lunas_operator;
grant select (id, merchant_id, bank_code, last_four, name_match, status, version, proposed_by, confirmed_by,
  inquired_at, usable_from, created_at, updated_at) on bank_accounts to lunas_api, lunas_worker, lunas_reader;

-- Payouts. The dashboard and operators request every change from the payout's workflow, and workers with the role
-- `payouts` write it: they alone call the bank, claim lines and write postings of payouts. Operators only seal the
-- terms again (`lunas keys reseal`).
grant select (id, purpose, provider, adapter, base_url, sealed_credentials, status, created_at, calls_per_second,
  key_fingerprint) on provider_accounts to lunas_payouts;
grant select, insert, update (status, version, approved_by, send_count, send_outcome, submitted_at, last_sent_at,
  finished_at, updated_at, bank_reference, failure_kind, failure_reason, is_manual) on payouts to lunas_payouts;
grant select, insert on payout_transitions, payout_events to lunas_payouts;
grant select, update (payout_id) on balance_transactions to lunas_payouts;
grant select on ledger_postings, ledger_entries, closed_days, balance_days, open_balance_days, totals_progress,
  exceptions, webhook_endpoints, webhook_deliveries to lunas_payouts;
grant insert on exceptions, webhook_deliveries to lunas_payouts;
grant execute on function close_exceptions to lunas_payouts;
grant select (id, provider_account_id, reference_id, received_at, closed_at, next_notify_at, reported_status),
  update (closed_at, next_notify_at) on provider_notifications to lunas_payouts;
grant select, insert, update on provider_call_schedules to lunas_payouts;
grant select on payout_transitions, payout_events to lunas_worker;
grant select, update (sealed_terms) on payouts to lunas_operator;
grant select (id, reference_id, merchant_id, bank_account_id, provider_account_id, gross_rupiah, fee_rupiah,
  amount_rupiah, rail, payout_policy_id, line_count, up_to_posting_id, is_rebuilt, approval_kind, requested_by,
  approved_by, status, version, send_count, send_outcome, requested_at, submitted_at, last_sent_at, finished_at,
  updated_at, bank_reference, failure_kind, failure_reason, is_manual) on payouts
  to lunas_api, lunas_dashboard, lunas_worker, lunas_reader;
grant select (signalled_at), update (signalled_at) on payouts to lunas_worker; -- the sweeper
grant select on payout_transitions to lunas_api, lunas_dashboard, lunas_operator, lunas_reader;
grant select on payout_events to lunas_api, lunas_dashboard, lunas_operator;
grant select (payout_id, payout_version, event, occurred_at) on payout_events to lunas_reader;
-- The operator API shows payouts and stops them. It reads no sealed column, and no name of a user.
grant select on payout_policies, bank_holidays, balance_transactions, closed_days, balance_days, open_balance_days,
  totals_progress to lunas_api;
grant select, insert on payout_stops to lunas_api;
grant select on payout_policies, bank_holidays, payout_stops, payout_settings, proposed_payout_settings
  to lunas_dashboard, lunas_worker, lunas_payouts, lunas_operator, lunas_reader;
grant insert on payout_policies, bank_holidays, payout_stops to lunas_operator;
grant select, insert, update (payout_id, taken_at) on payout_request_turns
  to lunas_dashboard, lunas_operator, lunas_worker, lunas_payouts;
grant insert, update (schedule, weekday, minimum_rupiah, changed_by, approved_by, changed_at) on payout_settings
  to lunas_dashboard;
grant insert, update (id, schedule, weekday, minimum_rupiah, proposed_by, proposed_at), delete
  on proposed_payout_settings to lunas_dashboard;
revoke execute on function authorises_payouts, are_two_people, is_second_user, has_second_user, has_uncounted_user,
  required_approval, keep_lost_authority, is_approved_payout_action, require_approved_payout,
  require_authorised_schedule, require_approved_resolution, set_origin_of_login, set_origin_of_reset,
  set_credentials_since from public;
grant execute on function required_approval to lunas_payouts, lunas_dashboard;
grant execute on function authorises_payouts, is_second_user to lunas_dashboard;
revoke execute on function may_change_schedule, notice_proposed_schedule, waits_for_member, require_second_member,
  require_second_person from public;
grant execute on function waits_for_member to lunas_dashboard, lunas_operator;

-- Totals. The worker keeps them, `lunas ledger verify` compares them with the payments, and pages show them.
grant select, insert, update, delete on payment_hour_totals to lunas_worker;
grant select, insert, update on open_balance_days to lunas_worker;
grant select, update (counted_at, transition_number, line_posting_id, recomputed_on, recomputed_merchant,
  recomputed_until) on totals_progress to lunas_worker;
grant select on payment_hour_totals, totals_progress to lunas_operator, lunas_dashboard, lunas_reader;

-- Retention and the archive.
grant select, insert on retention_runs to lunas_worker;
grant select on retention_runs to lunas_operator;
grant select, insert, update (completed_at, sha256, run_id) on archive_files to lunas_operator;
grant select, insert on archive_batches to lunas_operator;
grant select on archivable_payments to lunas_operator;
revoke execute on function archive_payments from public;
grant execute on function archive_payments to lunas_operator;
grant select on archived_payments to lunas_api, lunas_worker, lunas_operator;
grant select on archive_files, archive_batches to lunas_api, lunas_worker;
grant select, insert on archived_late_payments to lunas_worker;
grant select, update (refunded_at) on archived_late_payments to lunas_api, lunas_operator;
grant select on ledger_closings to lunas_operator;

-- Reports: no secret, no personal data, and no text of a customer, a provider or a receiver.
grant select on payment_transitions, refunds, late_payments, ledger_postings, ledger_entries, ledger_verifications,
  ledger_verification_results, ledger_closings, reconciliation_runs, indeterminate_orders, exceptions, merchants,
  policies, webhook_deliveries, operator_action_outcomes, audit_chain, audit_chain_lock, approval_decisions,
  approval_limits, retention_runs, archive_files, archive_batches, archived_payments, archived_late_payments
  to lunas_reader;
grant select (id, reference_id, merchant_id, payment_method, provider, provider_account_id, currency, amount_rupiah,
  fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind, settlement_delay_seconds, status,
  version, expires_at, created_at, updated_at, paid_at, cancelled_at, settlement_due_at, provider_transaction_id,
  failure_reason) on payments to lunas_reader;
grant select (id, merchant_id, prefix, last_four, allowed_networks, created_at, revoked_at, scopes, expires_at,
  last_used_at, last_used_from, name, created_by) on api_keys to lunas_reader;
grant select (id, name, prefix, last_four, created_at, revoked_at, allowed_networks, scopes, expires_at, is_approved,
  created_by, login, secret_login) on operators to lunas_reader;
grant select (id, actor, via, operator_id, action, target, note, requested_at) on operator_actions to lunas_reader;
grant select (id, action, target, note, requested_by, requested_at, expires_at, status, decided_by, decided_at,
  amount_rupiah, expected_version) on approvals to lunas_reader;
grant select (id, started_at, key_id, merchant_id, method, status, duration_ms, error_code, error_reason)
  on api_requests to lunas_reader;
grant select (id, provider, adapter, base_url, weight, status, created_at, nmid, key_fingerprint)
  on provider_accounts to lunas_reader;
grant select (id, provider_account_id, reference_id, received_at, closed_at, notify_attempts, next_notify_at,
  reported_status) on provider_notifications to lunas_reader;
grant select (id, merchant_id, events, expand, status, disabled_reason, created_at, consecutive_failures, failing_since,
  next_probe_at, deleted_at) on webhook_endpoints to lunas_reader;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure) on webhook_attempts to lunas_reader;
grant select (payment_id, payment_version, event, occurred_at) on webhook_events to lunas_reader;
grant select (id, endpoint_id, created_at, expires_at) on webhook_secrets to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
