-- Up Migration

set local role lunas_owner;

-- The catalog ---------------------------------------------------------------------------------------------------------

-- A change is a new version, and a payment keeps the one that it captured.
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

-- Whether each amount has exactly one rate: at most ten bands, the first from 0, each next one above the one before.
create function are_fee_bands(bands jsonb) returns boolean language sql immutable
begin atomic
  select count(*) between 1 and 10
    and bool_and(band = jsonb_build_object('fromRupiah', from_rupiah, 'basisPoints', basis_points))
    and bool_and((from_rupiah between 0 and 10000000 and basis_points between 0 and 10000) is true)
    and bool_and(case when number = 1 then from_rupiah = 0 else from_rupiah > before end)
  from (
    select band, number, from_rupiah, basis_points, lag(from_rupiah) over (order by number) as before
    from jsonb_array_elements(bands) with ordinality as element (band, number),
      lateral (
        select (band ->> 'fromRupiah')::integer as from_rupiah, (band ->> 'basisPoints')::integer as basis_points
      ) as parts
  ) as ordered;
end;

-- What a payment costs a merchant of the class: from a day in WIB on, by band of the amount. The row in force on a day
-- is that with the greatest `valid_from`, then the greatest version. A change is a new row.
create table fee_schedules (
  id uuid primary key,
  class text not null check (class in ('UMI', 'UKE', 'UME', 'UBE', 'education', 'fuel', 'public_service', 'social',
    'VAT')), -- `VAT`: included in every fee
  version integer not null check (version > 0), -- counts the rows of the class
  valid_from date not null,
  bands jsonb not null, -- [{"fromRupiah": 0, "basisPoints": 70}]
  created_at timestamptz(3) not null default now(),
  unique (class, version),
  constraint fee_schedules_bands_cover_all check (are_fee_bands(bands)),
  constraint fee_schedules_vat_has_one_band check (class <> 'VAT' or jsonb_array_length(bands) = 1)
);

-- What was agreed with a merchant; it counts if it is below the rate of the class. Chosen as a schedule is.
create table merchant_prices (
  id uuid primary key,
  merchant_id uuid not null references merchants,
  version integer not null check (version > 0), -- counts the rows of the merchant
  valid_from date not null,
  basis_points integer check (basis_points between 0 and 10000), -- null: the agreement ends
  flat_rupiah bigint check (flat_rupiah between 0 and 10000000),
  created_at timestamptz(3) not null default now(),
  unique (merchant_id, version),
  constraint merchant_prices_both_or_none check ((basis_points is null) = (flat_rupiah is null))
);

-- Provider accounts ---------------------------------------------------------------------------------------------------

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
  -- The name in the customer's app, which each of its QRs has. Null: not known, so not compared.
  shown_name text check (char_length(shown_name) between 1 and 25),
  -- The only merchant whose payments it takes. Null: shared by those who have no account of their own.
  merchant_id uuid references merchants,
  key_fingerprint text, -- names the server key; of an account for payouts, what the bank has issued
  -- The server key that waits for its approval, sealed as that in force. A later proposal replaces it.
  proposed_server_key text,
  proposed_key_fingerprint text,
  proposed_nmid text,
  proposed_shown_name text,
  changed_at timestamptz(3), -- when somebody changed who receives the money, or whether; an alert compares it
  constraint provider_accounts_provider_if_payments check ((purpose = 'payments') = (provider is not null)),
  constraint provider_accounts_own_is_compared check (merchant_id is null
    or purpose = 'payments' and nmid is not null and shown_name is not null),
  constraint provider_accounts_credentials_if_payouts check ((purpose = 'payouts') = (sealed_credentials is not null)),
  -- The pairs of `ADAPTERS` (src/providers/adapters.ts): an account is never called with the protocol of the other
  -- purpose.
  constraint provider_accounts_adapter_of_purpose check ((purpose, adapter) in
    (('payments', 'midtrans'), ('payouts', 'snap-midtrans'), ('payouts', 'snap-faspay')))
);
create index provider_accounts_provider_idx on provider_accounts (provider, merchant_id) where status = 'enabled';
create index provider_accounts_merchant_id_idx on provider_accounts (merchant_id) where merchant_id is not null;
create unique index provider_accounts_payouts_key on provider_accounts (purpose)
  where purpose = 'payouts' and status = 'enabled';

-- By whatever way: a command, a statement of a person, or a worker that stops the account.
create function record_account_change() returns trigger language plpgsql as $$
begin
  new.changed_at := clock_timestamp();
  return new;
end $$;
create trigger records_change before update on provider_accounts for each row
  when (
    (old.adapter, old.base_url, old.status, old.nmid, old.shown_name)
      is distinct from (new.adapter, new.base_url, new.status, new.nmid, new.shown_name)
    or not is_resealed(old.sealed_server_key, new.sealed_server_key)
    or (new.sealed_credentials is distinct from old.sealed_credentials
      and is_resealed(old.sealed_credentials, new.sealed_credentials) is not true)
  ) execute function record_account_change();

-- Its payments and its balance at the acquirer are of that merchant.
create trigger owner_is_final before update of merchant_id on provider_accounts for each row
  when (new.merchant_id is distinct from old.merchant_id) execute function forbid_mutation();

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

-- Policies and accounts that two operators decide ---------------------------------------------------------------------

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

-- A rate begins after today in WIB, as two operators have seen it, and as the version that they have seen.
create function require_approved_schedule() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and (new.valid_from <= booking_day(now()) or not exists (
    select from approvals, jsonb_array_elements(parameters -> 'schedules') as schedule
    where is_in_execution(approvals, 'fee.set_schedules')
      and parameters ->> 'validFrom' = to_char(new.valid_from, 'YYYY-MM-DD')
      and schedule = jsonb_build_object('class', new.class, 'version', new.version, 'bands', new.bands)
  )) then
    raise exception 'no two operators have approved these rates of % from %', new.class, new.valid_from
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on fee_schedules
  for each row execute function require_approved_schedule();

create function require_approved_price() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and (new.valid_from <= booking_day(now()) or not exists (
    select from approvals
    where is_in_execution(approvals, 'fee.agree') and parameters @> jsonb_build_object(
      'merchant', new.merchant_id, 'version', new.version, 'validFrom', to_char(new.valid_from, 'YYYY-MM-DD'),
      'price', case when new.basis_points is not null then
        jsonb_build_object('basisPoints', new.basis_points, 'flatRupiah', new.flat_rupiah) end)
  )) then
    raise exception 'no two operators have approved this price of merchant % from %', new.merchant_id, new.valid_from
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on merchant_prices
  for each row execute function require_approved_price();

-- An account in use has the address, the key and the merchant that two operators have seen.
create function require_approved_account() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and not (
    exists (
      select from approvals
      where action = 'account.create' and status in ('approved', 'executed') and decided_by <> requested_by
        and parameters @> jsonb_build_object('account', new.id, 'adapter', new.adapter, 'baseUrl', new.base_url)
        and parameters ->> 'merchantId' is not distinct from new.merchant_id::text
    ) and exists (
      select from approvals
      where action in ('account.create', 'account.set_key') and status in ('approved', 'executed')
        and decided_by <> requested_by and parameters ->> 'account' = new.id::text
        and parameters ->> 'keyFingerprint' is not distinct from new.key_fingerprint
        and parameters ->> 'nmid' is not distinct from new.nmid
        and parameters ->> 'shownName' is not distinct from new.shown_name
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
      where is_in_execution(approvals, 'account.set_key') and parameters ->> 'account' = new.id::text
        and parameters ->> 'keyFingerprint' = new.key_fingerprint and parameters ->> 'nmid' = new.nmid
        and parameters ->> 'shownName' is not distinct from new.shown_name
    )
  ) then
    raise exception 'the key of account % is not approved by two operators', new.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators_replace
  before update of sealed_server_key, sealed_credentials, key_fingerprint, nmid, shown_name on provider_accounts
  for each row
  when (
    (old.key_fingerprint, old.nmid, old.shown_name)
      is distinct from (new.key_fingerprint, new.nmid, new.shown_name)
    or not is_resealed(old.sealed_server_key, new.sealed_server_key)
    or (new.sealed_credentials is distinct from old.sealed_credentials
      and is_resealed(old.sealed_credentials, new.sealed_credentials) is not true)
  ) execute function require_approved_key();

-- Rights --------------------------------------------------------------------------------------------------------------

grant select on policies to lunas_api, lunas_worker, lunas_operator;
grant select (id, purpose, provider, adapter, base_url, sealed_server_key, weight, status, created_at, calls_per_second,
  nmid, shown_name, merchant_id, key_fingerprint, proposed_server_key, proposed_key_fingerprint, proposed_nmid,
  proposed_shown_name) on provider_accounts to lunas_api, lunas_worker;
grant select (changed_at) on provider_accounts to lunas_worker;
grant select on provider_accounts to lunas_operator; -- the credentials for `lunas keys reseal`
grant insert on policies, provider_accounts to lunas_operator;
grant update (status, sealed_server_key, sealed_credentials, calls_per_second, nmid, shown_name, key_fingerprint,
  proposed_server_key, proposed_key_fingerprint, proposed_nmid, proposed_shown_name) on provider_accounts
  to lunas_operator;
revoke execute on function stop_provider_account from public;
grant execute on function stop_provider_account to lunas_worker;
-- Every process that calls a provider: the worker, operators at the command line, and operators at the API.
grant select, insert, update on provider_call_schedules to lunas_api, lunas_worker, lunas_operator;
revoke execute on function require_approved_policy, require_approved_schedule, require_approved_price,
  require_approved_account, require_approved_key from public;
grant select on fee_schedules, merchant_prices to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts,
  lunas_verifier, lunas_operator, lunas_reader;
grant insert on fee_schedules, merchant_prices to lunas_operator;
grant select on policies to lunas_dashboard;
grant select (id, purpose, provider, adapter, base_url, weight, status, created_at, nmid, shown_name, merchant_id)
  on provider_accounts to lunas_dashboard;
grant select (id, purpose, provider, adapter, base_url, sealed_credentials, status, created_at, calls_per_second,
  key_fingerprint) on provider_accounts to lunas_payouts;
grant select, insert, update on provider_call_schedules to lunas_payouts;
grant select on policies to lunas_reader;
grant select (id, provider, adapter, base_url, weight, status, created_at, nmid, shown_name, merchant_id,
  key_fingerprint) on provider_accounts to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
