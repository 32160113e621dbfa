-- Up Migration

set local role lunas_owner;

-- Approvals -----------------------------------------------------------------------------------------------------------

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

-- Operators and limits that two operators decide ----------------------------------------------------------------------

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

-- Whether two operators have approved the key of an operator.
create function was_approved(operator operators) returns boolean language sql stable
  return exists (
    select from approvals
    where action = 'operator.approve' and status = 'executed' and parameters ->> 'operator' = operator.id::text
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
  wanted constant text := case when new.revoked_at is null then 'operator.approve' else 'operator.revoke' end;
begin
  if not needs_two_operators() then return new; end if;
  perform from operators order by id for update; -- concurrent changes are counted one after the other
  if (case wanted
    when 'operator.approve' then (select count(*) from operators where scopes is null and is_accepted(operators)) >= 2
    else can_decide(old) and (select count(*) from operators where can_decide(operators)) = 2
  end) and not exists (
    select from approvals
    where is_in_execution(approvals, wanted) and parameters ->> 'operator' = new.id::text and target = new.name
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

create function is_within_approval_limit(total_rupiah bigint) returns boolean language sql stable
  return total_rupiah <= (select limit_rupiah from approval_limits order by id desc limit 1);

-- Rights --------------------------------------------------------------------------------------------------------------

-- The API requests approvals; operators decide at the command line.
grant select, insert (action, target, parameters, note, requested_by, amount_rupiah, expected_version) on approvals
  to lunas_api, lunas_operator;
grant update (status, decided_by, decided_at, leased_until, failure_reason) on approvals to lunas_operator;
grant select, insert on approval_decisions to lunas_operator;
grant select on approval_limits to lunas_api, lunas_operator;
grant insert on approval_limits to lunas_operator;
revoke execute on function record_decision, require_approved_limit, require_approved_operator from public;
grant select on approval_decisions, approval_limits to lunas_reader;
grant select (id, action, target, note, requested_by, requested_at, expires_at, status, decided_by, decided_at,
  amount_rupiah, expected_version) on approvals to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
