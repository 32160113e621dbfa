-- Up Migration

-- The environment of this database. The first `lunas migrate` records it after its migrations, for good. Every process
-- and command compares it with its own, so that a sandbox never uses the database of production.
create table installation (
  is_only boolean primary key default true check (is_only), -- at most one row
  environment text not null check (environment in ('sandbox', 'production')),
  recorded_at timestamptz(3) not null default now()
);
create trigger append_only before update or delete on installation for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on installation execute function forbid_mutation();

-- Down Migration

-- There is none: see 0001_payments.sql.
