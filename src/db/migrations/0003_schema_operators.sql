-- Up Migration

set local role lunas_owner;

-- Operators and the audit log -----------------------------------------------------------------------------------------

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
  -- The person's login of PostgreSQL, with which alone this operator decides in production. A key with scopes has that
  -- of the person who acts with it. Null: it decides nothing, and in production it only reads. It never changes.
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
  -- What is counted of an act that one operator does alone (approval_rules): the amount that it moves, and the merchant
  -- that receives it. The approval of an act of two operators: it is not counted.
  amount_rupiah bigint,
  merchant_id uuid,
  approval_id bigint,
  constraint operator_actions_operator_id_unless_cli check (via in ('cli', 'database') or operator_id is not null)
);
create index operator_actions_target_idx on operator_actions (target, id desc);
create index operator_actions_alone_idx on operator_actions (action, requested_at) where approval_id is null;

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

-- The newest verification of the whole chain, and the newest one of new entries.
create table audit_verifications (
  is_full boolean primary key,
  verified_at timestamptz(3) not null default now(),
  position bigint not null default 0, -- every entry up to here was verified without a break
  head bytea check (octet_length(head) = 32), -- the hash of that entry; null: there was none
  break_count bigint not null check (break_count >= 0),
  breaks text[] not null default '{}', -- the first of them
  constraint audit_verifications_head_if_position check ((head is null) = (position = 0))
);

-- What a writer of the hash chain locks, until it has committed. Any role can take an advisory lock, so one that only
-- reads could stop every audited act. Only the owner, as which the triggers run, can lock this row.
create table audit_chain_lock (is_only boolean primary key default true check (is_only)); -- one row
insert into audit_chain_lock default values;

-- The content that an entry's hash covers. `lunas audit verify` computes it again, outside the database.
create function audit_content(action operator_actions) returns text language sql stable
  return jsonb_build_array(action.id, action.actor, action.via, action.operator_id, action.action, action.target,
    action.note, action.detail, iso_utc(action.requested_at), action.amount_rupiah, action.merchant_id,
    action.approval_id)::text;
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

create trigger end_is_final before update of is_approved, revoked_at on operators for each row
  when ((old.is_approved and not new.is_approved)
    or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at))
  execute function forbid_mutation();

-- Rights --------------------------------------------------------------------------------------------------------------

grant select on operators to lunas_api, lunas_operator;
-- Not `created_at`: a new key decides nothing for a day.
grant insert (id, name, secret_sha256, prefix, last_four, allowed_networks, scopes, expires_at, created_by, is_approved,
  login) on operators to lunas_operator;
grant update (is_approved, revoked_at, secret_sha256, prefix, last_four) on operators to lunas_operator;
-- The audit log. Only `begin_operator_action` writes an action.
grant select on operator_actions, operator_action_outcomes to lunas_api, lunas_operator;
grant insert on operator_action_outcomes to lunas_api, lunas_operator;
grant select on audit_chain, audit_chain_lock, audit_verifications to lunas_operator;
grant select on audit_verifications to lunas_worker, lunas_reader;
grant select, insert, update on audit_verifications to lunas_verifier;
revoke execute on function append_to_audit_chain from public;
grant select on operator_action_outcomes, audit_chain, audit_chain_lock to lunas_reader;
grant select (id, name, prefix, last_four, created_at, revoked_at, allowed_networks, scopes, expires_at, is_approved,
  created_by, login, secret_login) on operators to lunas_reader;
grant select (id, actor, via, operator_id, action, target, note, requested_at) on operator_actions to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
