-- Up Migration

set local role lunas_owner;

-- Merchants and their keys --------------------------------------------------------------------------------------------

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

-- Who a merchant is. A version is written once, and the newest in force counts. What is personal is sealed.
create table merchant_identities (
  merchant_id uuid not null references merchants,
  version integer not null check (version > 0),
  trading_name text not null check (trading_name ~ '^[ -~]{1,25}$'), -- the name in the customer's app
  category text not null check (category in ('regular', 'education', 'fuel', 'public_service', 'social')),
  criterion text not null check (criterion in ('UMI', 'UKE', 'UME', 'UBE')),
  nmid text not null check (nmid ~ '^ID\d{13}$'),
  valid_until date, -- the end of the first document that ends; null: none does
  sealed_details text not null,
  details_sha256 bytea not null check (octet_length(details_sha256) = 32), -- of a salt and the details
  proposed_by text not null,
  proposed_at timestamptz(3) not null default now(),
  in_force_from timestamptz(3), -- null: it waits for two operators
  primary key (merchant_id, version)
);
create index merchant_identities_nmid_idx on merchant_identities (nmid) where in_force_from is not null;

-- What two operators have seen. It begins once, and can be sealed again with another master key.
create trigger identity_is_final before update on merchant_identities for each row
  when (
    (old.merchant_id, old.version, old.trading_name, old.category, old.criterion, old.nmid, old.valid_until,
      old.details_sha256, old.proposed_by, old.proposed_at)
    is distinct from (new.merchant_id, new.version, new.trading_name, new.category, new.criterion, new.nmid,
      new.valid_until, new.details_sha256, new.proposed_by, new.proposed_at)
    or old.in_force_from is not null and new.in_force_from is distinct from old.in_force_from
    or not is_resealed(old.sealed_details, new.sealed_details)
  ) execute function forbid_mutation();

-- The version of a merchant that counts.
create function identity_in_force(merchant uuid) returns merchant_identities language sql stable
  return (
    select merchant_identities from merchant_identities
    where merchant_id = merchant and in_force_from is not null order by version desc limit 1
  );

-- A version begins, and the merchant has its name. Each NMID is of one merchant; in production two operators have seen
-- all of it.
create function begin_identity() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('nmid ' || new.nmid, 0));
  if exists (
    select from merchant_identities held
    where held.nmid = new.nmid and held.merchant_id <> new.merchant_id and held.in_force_from is not null
      and held.version = (identity_in_force(held.merchant_id)).version
  ) or (identity_in_force(new.merchant_id)).version > new.version then
    raise exception 'NMID % is of another merchant, or version % is not the newest', new.nmid, new.version
      using errcode = 'restrict_violation';
  end if;
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'merchant.set_identity') and parameters @> jsonb_build_object(
      'merchantId', new.merchant_id, 'version', new.version, 'tradingName', new.trading_name,
      'category', new.category, 'criterion', new.criterion, 'nmid', new.nmid, 'validUntil', new.valid_until,
      'detailsSha256', encode(new.details_sha256, 'hex'))
  ) then
    raise exception 'no two operators have approved this identity of merchant %', new.merchant_id
      using errcode = 'restrict_violation';
  end if;
  update merchants set name = new.trading_name where id = new.merchant_id;
  return new;
end $$;
create trigger two_operators_insert before insert on merchant_identities for each row
  when (new.in_force_from is not null) execute function begin_identity();
create trigger two_operators before update of in_force_from on merchant_identities for each row
  when (old.in_force_from is null and new.in_force_from is not null) execute function begin_identity();

-- Production approves no merchant whose identity is not known, or whose documents have ended.
create function require_identity() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  identity merchant_identities := identity_in_force(new.id);
begin
  if needs_two_operators() and (identity.version is null
    or identity.valid_until < booking_day(now())) then
    raise exception 'merchant % has no identity in force', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger identified_insert before insert on merchants for each row
  when (new.status = 'approved') execute function require_identity();
create trigger identified before update of status on merchants for each row
  when (new.status = 'approved' and old.status <> 'approved') execute function require_identity();

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

-- A revoked key stays so, whatever the statement is. The dashboard extends no key.
create trigger revocation_is_final before update of revoked_at on api_keys for each row
  when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  execute function forbid_mutation();
create trigger expiry_is_final before update of expires_at on api_keys for each row
  when (coalesce(new.expires_at, 'infinity') > coalesce(old.expires_at, 'infinity') and acts_as_dashboard())
  execute function forbid_mutation();

-- Two operators decide who pays the fee of new payments.
create function require_approved_fee_payer() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'merchant.set_fee_payer') and parameters ->> 'merchant' = new.id::text
      and parameters ->> 'feePayer' = new.fee_payer
  ) then
    raise exception 'no two operators have approved this payer of the fee' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before update of fee_payer on merchants for each row
  when (new.fee_payer <> old.fee_payer) execute function require_approved_fee_payer();

-- Whether the customers of a merchant may pay its fee, by its class. No class may: Bank Indonesia forbids to pass the
-- MDR on. `lunas doctor` asks it as any role.
create function may_pass_fee(merchant uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select coalesce(case own.category when 'regular' then own.criterion else own.category end = any ('{}'::text[]), false)
  from identity_in_force(merchant) as own;
end;

-- Merchants whose customers pay it from before stay: `lunas doctor` names them.
create function require_lawful_fee_payer() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and not may_pass_fee(new.id) then
    raise exception 'merchant % bears the fee', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger lawful_fee_payer_insert before insert on merchants for each row
  when (new.fee_payer = 'buyer') execute function require_lawful_fee_payer();
create trigger lawful_fee_payer before update of fee_payer on merchants for each row
  when (new.fee_payer = 'buyer' and old.fee_payer <> 'buyer') execute function require_lawful_fee_payer();

-- Two operators end the hold of a merchant that they have seen, by its begin in milliseconds; one begins it.
create function require_approved_release() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'merchant.release') and parameters ->> 'merchant' = new.id::text
      and expected_version = (extract(epoch from old.held_at) * 1000)::bigint
  ) then
    raise exception 'no two operators have approved the release of merchant %', new.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators_release before update of held_at on merchants for each row
  when (old.held_at is not null and new.held_at is null) execute function require_approved_release();

-- Requests to the API -------------------------------------------------------------------------------------------------

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

-- Rights --------------------------------------------------------------------------------------------------------------

revoke execute on function require_approved_fee_payer, require_lawful_fee_payer, begin_identity, require_identity
  from public;
-- The dashboard opens the details for members who manage the settings; operators by `lunas merchants identity`.
grant select on merchant_identities to lunas_worker, lunas_dashboard, lunas_operator;
grant insert, update (in_force_from, sealed_details) on merchant_identities to lunas_operator;
grant select (merchant_id, version, category, criterion, in_force_from) on merchant_identities to lunas_api;
grant select (merchant_id, version, trading_name, category, criterion, nmid, valid_until, details_sha256, proposed_by,
  proposed_at, in_force_from) on merchant_identities to lunas_reader;
grant select on merchants to lunas_api, lunas_worker, lunas_payouts, lunas_operator;
grant insert on merchants to lunas_operator;
grant update (held_at) on merchants to lunas_api, lunas_operator;
grant update (status, fee_payer, providers, payment_method_active, return_url, checkout_origins, contact) on merchants
  to lunas_operator;
grant select on api_keys to lunas_api, lunas_operator;
grant insert, update (revoked_at) on api_keys to lunas_operator;
grant update (last_used_at, last_used_from) on api_keys to lunas_api;
grant select, insert, update, delete on rate_limits to lunas_api;
grant insert, select (id), delete on api_requests to lunas_api;
grant select on api_requests to lunas_operator;
grant select on merchants to lunas_dashboard;
grant select, insert, update, delete on rate_limits to lunas_dashboard;
grant update (time_zone, return_url, checkout_origins, contact, accent) on merchants to lunas_dashboard;
grant select, insert, update (png, width, height), delete on merchant_logos to lunas_dashboard;
grant select on merchant_logos to lunas_api;
grant select (merchant_id), delete on merchant_logos to lunas_operator; -- an abusive one
grant select (id, merchant_id, prefix, last_four, allowed_networks, created_at, revoked_at, scopes, expires_at,
  last_used_at, last_used_from, name, created_by) on api_keys to lunas_dashboard;
grant insert, update (name, allowed_networks, expires_at, revoked_at) on api_keys to lunas_dashboard;
grant select (id, request_id, started_at, key_id, merchant_id, method, path, status, duration_ms, error_code,
  error_reason, ignored_fields, ignored_parameters, payment_ids) on api_requests to lunas_dashboard;
grant select on merchants to lunas_reader;
grant select (id, merchant_id, prefix, last_four, allowed_networks, created_at, revoked_at, scopes, expires_at,
  last_used_at, last_used_from, name, created_by) on api_keys to lunas_reader;
grant select (id, started_at, key_id, merchant_id, method, status, duration_ms, error_code, error_reason)
  on api_requests to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
