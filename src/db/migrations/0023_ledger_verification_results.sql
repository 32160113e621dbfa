-- Up Migration

set local role lunas_owner;

-- The result of each `lunas ledger verify`. `ledger_verifications` has only those without breaks: each of its rows is a
-- checkpoint, and older versions of the command read the newest one.
create table ledger_verification_results (
  id bigint generated always as identity primary key,
  verified_at timestamptz(3) not null default now(),
  is_full boolean not null,
  break_count bigint not null check (break_count >= 0)
);
create index ledger_verification_results_full_idx on ledger_verification_results (id) where is_full;

create trigger append_only before update or delete on ledger_verification_results
  for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on ledger_verification_results
  for each statement execute function forbid_mutation();

grant select, insert on ledger_verification_results to lunas_operator;
grant select on ledger_verification_results to lunas_worker, lunas_reader;

-- Down Migration

-- There is none: see 0001_payments.sql.
