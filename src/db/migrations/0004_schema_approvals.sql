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

-- What one operator may do alone in production, by action. The newest row of an action is in force. An action without a
-- row always needs a second operator, or never. A day is the last 24 hours; null is no limit.
create table approval_rules (
  id bigint generated always as identity primary key,
  action text not null,
  item_rupiah bigint check (item_rupiah >= 0), -- of one act; 0: it always needs two operators
  operator_day_rupiah bigint check (operator_day_rupiah >= 0),
  merchant_day_rupiah bigint check (merchant_day_rupiah >= 0),
  operator_day_count integer check (operator_day_count >= 0),
  created_at timestamptz(3) not null default now(),
  replaces_id bigint, -- the rule before; null: there was none
  check (item_rupiah <= operator_day_rupiah and item_rupiah <= merchant_day_rupiah)
);
-- Two concurrent changes cannot replace the same rule.
create unique index approval_rules_replaces_idx on approval_rules (action, replaces_id) nulls not distinct;
insert into approval_rules (action, item_rupiah, operator_day_rupiah, merchant_day_rupiah) values
  ('payment.settle', 5000000, 25000000, 25000000),
  ('exception.resolve_as_refunded', 5000000, 10000000, 10000000),
  ('payment.refund', 2000000, 10000000, 10000000);
insert into approval_rules (action, operator_day_count) select unnest(array['customer.show', 'customer.erase',
  'identity.show', 'bank_account.show']), 20;

create function rule_in_force(wanted_action text) returns approval_rules language sql stable
  return (select approval_rules from approval_rules where action = wanted_action order by id desc limit 1);

-- Whether one operator does not do the act alone. Acts of a person are those with all keys of the same login of
-- PostgreSQL, and those that this login has written, in any name. An act counts from its row on. One that the API has
-- rejected has moved nothing, and does not count. The outcome of a command proves nothing: its operator can write
-- another one by SQL, also before the command ends.
create function exceeds(rule approval_rules, act operator_actions) returns boolean language sql stable
begin atomic
  with own_login as (
    select session_user as login where acts_as_operator() and needs_two_operators()
  ),
  own_keys as (
    select id from operators
    where id = act.operator_id or login = (select login from operators where id = act.operator_id)
      or login = (select login from own_login)
  ),
  earlier as (
    select amount_rupiah, merchant_id,
      case when operator_id is null then actor = act.actor else operator_id in (select id from own_keys) end
        or begun.login in (select login from own_login) as is_own
    from operator_actions join audit_chain begun on begun.kind = 'action' and begun.action_id = operator_actions.id
    where action = rule.action and approval_id is null and requested_at > clock_timestamp() - interval '24 hours'
      and not exists (
        select from operator_action_outcomes outcome
          join audit_chain ended on ended.kind = 'outcome' and ended.action_id = outcome.action_id
          join pg_roles on rolname = ended.login
        where outcome.action_id = operator_actions.id and outcome.outcome = 'rejected'
          and pg_has_role(pg_roles.oid, 'lunas_api', 'member')
          and not pg_has_role(pg_roles.oid, 'lunas_operator', 'member')
      )
  ),
  day as (
    select coalesce(sum(amount_rupiah) filter (where is_own), 0) + coalesce(act.amount_rupiah, 0) as operator_rupiah,
      coalesce(sum(amount_rupiah) filter (where merchant_id = act.merchant_id), 0) + coalesce(act.amount_rupiah, 0)
        as merchant_rupiah,
      count(*) filter (where is_own) + 1 as operator_count
    from earlier
  )
  select coalesce(rule.item_rupiah = 0 or coalesce(act.amount_rupiah > rule.item_rupiah, rule.item_rupiah is not null)
    or operator_rupiah > rule.operator_day_rupiah or merchant_rupiah > rule.merchant_day_rupiah
    or operator_count > rule.operator_day_count, false)
  from day;
end;

-- Operators and rules that two operators decide -----------------------------------------------------------------------

-- Whether an approval of two operators is executed now: `lunas approvals approve` sets `approved`, and executes.
create function is_in_execution(approval approvals, wanted_action text) returns boolean language sql stable
  return approval.action = wanted_action and approval.status = 'approved'
    and approval.decided_by <> approval.requested_by and approval.expires_at > now();

-- Begins an act of an operator: its row in the audit log, or nothing, if a second operator has to approve it. In
-- production the acts of one operator are counted if their action has a rule. The lock of the audit log orders them, so
-- none is left out of the count of another; each takes that lock anyway, and an action without a rule counts nothing.
create function begin_operator_action(act operator_actions, has_approval boolean, out id bigint, out needs_two boolean)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  rule approval_rules := rule_in_force(act.action);
begin
  needs_two := false;
  if is_production() and not exists (
    select from approvals where approvals.id = act.approval_id and is_in_execution(approvals, act.action)
  ) then
    if rule.id is not null then perform from audit_chain_lock for update; end if;
    needs_two := case when rule.id is null then has_approval else exceeds(rule, act) end;
    if needs_two then return; end if;
    act.approval_id := null; -- it counts
  end if;
  insert into operator_actions (actor, via, operator_id, action, target, note, detail, amount_rupiah, merchant_id,
    approval_id)
  values (act.actor, act.via, act.operator_id, act.action, act.target, act.note, act.detail, act.amount_rupiah,
    act.merchant_id, act.approval_id)
  returning operator_actions.id into id;
end $$;

-- `approval.set_limit` changes the amount of one settlement and of one manual refund, and leaves what a day may have.
create function require_approved_rule() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  before approval_rules := rule_in_force(new.action);
begin
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'approval.set_rule') and parameters ->> 'action' = new.action
      and ((parameters ->> 'itemRupiah')::bigint, (parameters ->> 'operatorDayRupiah')::bigint,
        (parameters ->> 'merchantDayRupiah')::bigint, (parameters ->> 'operatorDayCount')::integer)
        is not distinct from
        (new.item_rupiah, new.operator_day_rupiah, new.merchant_day_rupiah, new.operator_day_count)
    or is_in_execution(approvals, 'approval.set_limit')
      and new.action in ('payment.settle', 'exception.resolve_as_refunded')
      and ((parameters ->> 'limitRupiah')::bigint, before.operator_day_rupiah, before.merchant_day_rupiah,
        before.operator_day_count)
        is not distinct from
        (new.item_rupiah, new.operator_day_rupiah, new.merchant_day_rupiah, new.operator_day_count)
  ) then
    raise exception 'no two operators have approved this rule' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on approval_rules
  for each row execute function require_approved_rule();

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
-- An operator without a login can be anybody, also the person who decides.
create function may_decide(approval approvals, decider operators, requester operators) returns boolean
language sql stable
  return decider.id <> requester.id and can_decide(decider) and is_trusted(requester)
    and not has_created(decider, requester) and not has_created(requester, decider)
    and not are_siblings(decider, requester)
    and (not needs_two_operators() or decider.login = session_user
      and requester.login <> session_user and requester.secret_login <> session_user
      and approval.requested_login <> session_user);

-- Two operators without scopes approve the next one, and two who can decide have to remain: the last one could create
-- the next one alone. Only a key that reads, as of a program, is of no person's login.
create function require_approved_operator() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  wanted constant text := case when new.revoked_at is null then 'operator.approve' else 'operator.revoke' end;
begin
  if not needs_two_operators() then return new; end if;
  if wanted = 'operator.approve' and new.login is null and not coalesce(new.scopes <@ '{read}', false) then
    raise exception 'operator % has no login, and more than the scope read', new.name
      using errcode = 'restrict_violation';
  end if;
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

-- Whether one operator may do an act of this amount alone, as far as the act is concerned; null: no rule says so.
create function is_within_item_limit(wanted_action text, rupiah bigint) returns boolean language sql stable
  return (
    select coalesce(item_rupiah is null or rupiah <= item_rupiah, false) from rule_in_force(wanted_action)
    where id is not null
  );

-- Whether one operator does an act of this amount alone, and `begin_operator_action` has counted it so.
create function is_counted_act(wanted_action text, object text, rupiah bigint, merchant uuid) returns boolean
language sql stable
  return coalesce(is_within_item_limit(wanted_action, rupiah), false) and exists (
    select from operator_actions
    where action = wanted_action and target = object and amount_rupiah = rupiah and merchant_id = merchant
      and approval_id is null
  );

-- Rights --------------------------------------------------------------------------------------------------------------

-- The API requests approvals; operators decide at the command line.
grant select, insert (action, target, parameters, note, requested_by, amount_rupiah, expected_version) on approvals
  to lunas_api, lunas_operator;
grant update (status, decided_by, decided_at, leased_until, failure_reason) on approvals to lunas_operator;
grant select, insert on approval_decisions to lunas_operator;
grant select on approval_rules to lunas_api, lunas_operator;
grant insert on approval_rules to lunas_operator;
revoke execute on function record_decision, require_approved_rule, require_approved_operator, begin_operator_action
  from public;
grant execute on function begin_operator_action to lunas_api, lunas_operator;
grant select on approval_decisions, approval_rules to lunas_reader;
grant select (id, action, target, note, requested_by, requested_at, expires_at, status, decided_by, decided_at,
  amount_rupiah, expected_version) on approvals to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
