-- Up Migration

-- The parameters of a command, as JSON: what was created or changed.
alter table operator_actions add column detail text;

-- A command that runs with an operator key has its operator too.
alter table operator_actions drop constraint operator_actions_operator_id_if_api;
alter table operator_actions add constraint operator_actions_operator_id_if_api
  check (via = 'cli' or operator_id is not null);

-- The hash chain of the audit log: one entry for each row of the two tables, in the order of their commits.
create table audit_chain (
  position bigint primary key check (position > 0),
  kind text not null check (kind in ('action', 'outcome')),
  action_id bigint not null,
  hash bytea not null check (octet_length(hash) = 32),
  unique (kind, action_id)
);

-- The content that an entry's hash covers. `lunas audit verify` computes it again, outside the database.
create function audit_content(action operator_actions) returns text language sql stable
  return jsonb_build_array(action.id, action.actor, action.via, action.operator_id, action.action, action.target,
    action.note, action.detail, iso_utc(action.requested_at))::text;

create function audit_content(outcome operator_action_outcomes) returns text language sql stable
  return jsonb_build_array(outcome.action_id, outcome.outcome, outcome.detail, iso_utc(outcome.finished_at))::text;

-- The lock orders concurrent writers until each has committed. The statement after it sees the newest entry: a function
-- that is volatile takes a new snapshot for each statement.
create function append_to_audit_chain(kind text, action_id bigint, content text) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('audit_chain'));
  insert into audit_chain (position, kind, action_id, hash)
  select coalesce(max(position), 0) + 1, $1, $2, sha256(
    coalesce((select hash from audit_chain order by position desc limit 1), '') || convert_to($1 || $3, 'utf8'))
  from audit_chain;
end $$;

create function chain_action() returns trigger language plpgsql as $$
begin
  perform append_to_audit_chain('action', new.id, audit_content(new));
  return null;
end $$;

create function chain_outcome() returns trigger language plpgsql as $$
begin
  perform append_to_audit_chain('outcome', new.action_id, audit_content(new));
  return null;
end $$;

-- The rows of before: they are authentic as of this migration.
do $$
declare entry record;
begin
  lock table operator_actions, operator_action_outcomes in share row exclusive mode;
  for entry in
    select 'action' as kind, id, audit_content(operator_actions) as content, requested_at as at from operator_actions
    union all
    select 'outcome', action_id, audit_content(operator_action_outcomes), finished_at from operator_action_outcomes
    order by at, kind, id
  loop
    perform append_to_audit_chain(entry.kind, entry.id, entry.content);
  end loop;
end $$;

create trigger audit_chain after insert on operator_actions for each row execute function chain_action();
create trigger audit_chain after insert on operator_action_outcomes for each row execute function chain_outcome();
create trigger append_only before update or delete on audit_chain for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on audit_chain execute function forbid_mutation();

-- Down Migration

-- There is none: see 0001_payments.sql.
