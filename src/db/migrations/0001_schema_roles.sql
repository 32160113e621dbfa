-- Up Migration

-- Roles (docs/production.md, "Database roles") ------------------------------------------------------------------------

-- The files `NNNN_schema_<subject>.sql` are the schema of the first version. Each ends with the rights to its tables,
-- by column. `lunas_dashboard` is for the pages of merchants: they read what a merchant may see, and request every
-- change of a payment from its workflow. So it has no right to write payments, refunds or the ledger, and none to see
-- a server key or a webhook secret. `lunas_reader` is for reports: it reads no secret, no personal data, and no text of
-- a customer, a provider or a receiver. `lunas_verifier` compares the ledger and the audit log, and
-- writes what it found.
--
-- The roles have no login: an operator makes login roles and grants them membership. Roles belong to the whole server,
-- so another database may have created them already.
do $$
declare
  missing text;
begin
  foreach missing in array array['lunas_owner', 'lunas_api', 'lunas_dashboard', 'lunas_worker', 'lunas_payouts',
    'lunas_verifier', 'lunas_operator', 'lunas_reader']
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
    'grant usage on schema %I to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_verifier, '
    'lunas_operator, lunas_reader', current_schema());
exception
  when insufficient_privilege then
    raise insufficient_privilege using message = format(
      'role %I may not create the roles of Lunas, so an administrator has to do it', current_user);
end $$;

alter table schema_migrations owner to lunas_owner;

-- Everything belongs to the owner, so the grants do not depend on the role that migrates. Only `lunas migrate` connects
-- as a member of it.
set local role lunas_owner;

-- Functions of several tables -----------------------------------------------------------------------------------------

-- As the API prints a timestamp: `2026-11-22T09:30:00.000Z`.
create function iso_utc(at timestamptz) returns text language sql immutable strict parallel safe
  return to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

create function forbid_mutation() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % rejected', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end $$;

-- Rights --------------------------------------------------------------------------------------------------------------

grant select on schema_migrations to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_operator;
grant select on schema_migrations to lunas_verifier, lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
