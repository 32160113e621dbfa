-- Up Migration

set local role lunas_owner;

-- The installation ----------------------------------------------------------------------------------------------------

-- The environment of this database. The first `lunas migrate` records it after its migrations, for good. Every process
-- and command compares it with its own, so that a sandbox never uses the database of production.
create table installation (
  is_only boolean primary key default true check (is_only), -- at most one row
  environment text not null check (environment in ('sandbox', 'production')),
  -- This installation, among others behind one router: part of its keys, references and addresses for notifications.
  cell text not null default '00' check (cell ~ '^[0-9A-HJKMNP-TV-Z]{2}$'),
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

-- Whether the login of this connection is that of a dashboard. One that is an operator too, as a superuser is, acts as
-- an operator.
create function acts_as_dashboard() returns boolean language sql stable
  return pg_has_role(session_user, 'lunas_dashboard', 'member')
    and not pg_has_role(session_user, 'lunas_operator', 'member');

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

-- How far a recovery that was stopped is in the open payments; no row after one that ended.
create table recovery_cursor (
  is_only boolean primary key default true check (is_only), -- one row
  provider_account_id uuid not null,
  payment_id uuid not null,
  done_count bigint not null,
  saved_at timestamptz(3) not null default now()
);

-- When a process of each role was last seen. A role that this installation has never run has no row.
create table role_heartbeats (
  role text primary key
    check (role in ('api', 'dashboard', 'payments', 'webhooks', 'relay', 'sweeper', 'payouts', 'verifier')),
  seen_at timestamptz(3) not null default now()
);

-- A process writes the roles that its login can have.
alter table role_heartbeats enable row level security;
create policy every_role_readable on role_heartbeats for select using (true);
create policy heartbeat_of_api on role_heartbeats to lunas_api using (role = 'api') with check (role = 'api');
create policy heartbeat_of_dashboard on role_heartbeats to lunas_dashboard
  using (role = 'dashboard') with check (role = 'dashboard');
create policy heartbeat_of_workers on role_heartbeats to lunas_worker
  using (role in ('payments', 'webhooks', 'relay', 'sweeper'))
  with check (role in ('payments', 'webhooks', 'relay', 'sweeper'));
create policy heartbeat_of_payouts on role_heartbeats to lunas_payouts
  using (role = 'payouts') with check (role = 'payouts');
create policy heartbeat_of_verifier on role_heartbeats to lunas_verifier
  using (role = 'verifier') with check (role = 'verifier');

-- Rights --------------------------------------------------------------------------------------------------------------

-- What each process and command compares at its start.
grant select on installation to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_operator;
grant select on installation to lunas_reader;
grant select on recovery_mode to lunas_api, lunas_worker, lunas_payouts, lunas_operator, lunas_reader;
grant update (begun_at, begun_by, reason) on recovery_mode to lunas_worker, lunas_payouts, lunas_operator;
grant update (timeline, ended_at) on recovery_mode to lunas_operator;
grant select, insert, update, delete on recovery_cursor to lunas_operator;
grant select on recovery_cursor to lunas_reader;
grant select on role_heartbeats
  to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_verifier, lunas_operator, lunas_reader;
grant insert (role), update (seen_at) on role_heartbeats
  to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_verifier;
grant select on retired_keys to lunas_api, lunas_worker, lunas_payouts, lunas_operator;
grant insert on retired_keys to lunas_operator;
grant update (sealed) on retired_keys to lunas_operator;
grant select on recovery_mode, retired_keys to lunas_dashboard;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
