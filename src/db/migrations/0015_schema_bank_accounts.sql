-- Up Migration

set local role lunas_owner;

-- Bank accounts of merchants ------------------------------------------------------------------------------------------

-- An account of a merchant that receives payouts. It is never edited: a change is a new account. The number is sealed,
-- and shown by its last four digits. Its columns are those of `BANK_ACCOUNT_TRANSITIONS`.
create table bank_accounts (
  id uuid primary key,
  merchant_id uuid not null references merchants,
  bank_code text not null check (bank_code ~ '^\d{3}$'),
  sealed_number text, -- null: emptied, after a final status
  -- Of the number, keyed, as it was proposed: before each call to the bank the number is compared with it.
  number_hmac text not null,
  last_four text not null check (last_four ~ '^\d{4}$'),
  sealed_holder_name text, -- as the bank reports it; null until then, or emptied
  name_match text check (name_match in ('same', 'similar', 'different')),
  -- Other merchants that had the same account at the inquiry: for the operator who approves.
  same_number_merchants uuid[] not null default '{}',
  status text not null check (status in ('pending_inquiry', 'pending_approval', 'active', 'suspended', 'rejected',
    'withdrawn', 'replaced', 'disabled')),
  -- Counts the transitions, and each other result of the bank while the account waits for its approval.
  version integer not null check (version > 0),
  proposed_by text not null,
  confirmed_by text, -- the second member, where the merchant has one
  inquired_at timestamptz(3), -- when the bank last reported the holder
  usable_from timestamptz(3), -- the end of the cool-down, in which it receives nothing
  failure_reason text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint bank_accounts_usable_from_if_approved check (status <> 'active' or usable_from is not null),
  constraint bank_accounts_holder_if_inquired check (inquired_at is null or name_match is not null),
  unique (id, merchant_id) -- a payout goes to an account of its merchant
);
-- At most one account that receives payouts, and one proposal.
create unique index bank_accounts_active_key on bank_accounts (merchant_id) where status in ('active', 'suspended');
create unique index bank_accounts_proposal_key on bank_accounts (merchant_id)
  where status in ('pending_inquiry', 'pending_approval');
create index bank_accounts_merchant_id_idx on bank_accounts (merchant_id, created_at desc, id desc);
create index bank_accounts_waiting_idx on bank_accounts (created_at, id)
  where status in ('pending_inquiry', 'pending_approval');
create index bank_accounts_created_at_idx on bank_accounts (created_at desc, id desc);
-- The inquiry opens only numbers with the same end.
create index bank_accounts_same_end_idx on bank_accounts (bank_code, last_four);

create table bank_account_transitions (
  bank_account_id uuid not null references bank_accounts,
  version integer not null check (version > 0),
  name text not null,
  from_status text,
  to_status text not null,
  occurred_at timestamptz(3) not null,
  actor text not null,
  note text,
  recorded_at timestamptz(3) not null default now(),
  primary key (bank_account_id, version)
);

-- Whose account it is never changes. The number can be emptied, or sealed again with another master key.
create trigger account_is_final before update on bank_accounts for each row
  when (
    (old.id, old.merchant_id, old.bank_code, old.last_four, old.number_hmac, old.proposed_by, old.created_at)
    is distinct from (new.id, new.merchant_id, new.bank_code, new.last_four, new.number_hmac, new.proposed_by,
      new.created_at)
    or (new.sealed_number is not null and is_resealed(old.sealed_number, new.sealed_number) is not true)
  ) execute function forbid_mutation();
-- Who approves the account sees the holder that the bank has reported: only the inquiry writes it.
create trigger holder_is_inquired before update of sealed_holder_name on bank_accounts for each row
  when (new.sealed_holder_name is not null and acts_as_operator()
    and is_resealed(old.sealed_holder_name, new.sealed_holder_name) is not true)
  execute function forbid_mutation();
create trigger status_is_final before update of status on bank_accounts for each row
  when (old.status in ('rejected', 'withdrawn', 'replaced', 'disabled') and new.status <> old.status)
  execute function forbid_mutation();
create trigger begins_as_proposal before insert on bank_accounts for each row
  when (new.status <> 'pending_inquiry' or new.version <> 1 or new.confirmed_by is not null)
  execute function forbid_mutation();

-- In production an account becomes active only while an approval of two operators for this very version is executed:
-- `lunas approvals approve` sets `approved` and executes in one transaction.
create function require_approved_bank_account() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if is_production() and not exists (
    select from approvals
    where action in ('bank_account.approve', 'bank_account.reactivate') and is_in_execution(approvals, action)
      and parameters ->> 'bankAccountId' = new.id::text and expected_version = old.version
  ) then
    raise exception 'bank account % is not approved by two operators', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before update of status on bank_accounts for each row
  when (new.status = 'active' and old.status <> 'active') execute function require_approved_bank_account();

-- Limits of payouts; the newest is in force. Rows instead of variables: no process may read another value.
create table payout_limits (
  id bigint generated always as identity primary key,
  cooldown_seconds integer not null check (cooldown_seconds >= 0),
  -- So long after the last send, a payout that the bank does not know may still arrive there.
  not_found_seconds integer not null default 86400 check (not_found_seconds >= 0),
  -- Above it, by merchant and WIB day, an operator approves payouts.
  day_limit_rupiah bigint not null default 100000000 check (day_limit_rupiah >= 0),
  created_at timestamptz(3) not null default now(),
  -- The row that it replaces: two concurrent changes cannot replace the same one.
  replaces_id bigint
);
create unique index payout_limits_replaces_id_idx on payout_limits (replaces_id);
insert into payout_limits (cooldown_seconds) values (86400);

-- The cool-down begins when the account becomes active, and no statement ends it earlier. The clock of the process that
-- approves may be a minute behind that of PostgreSQL.
create function require_cooldown() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not pg_has_role(session_user, 'lunas_owner', 'member') and not (
    new.status = 'active' and old.status <> 'active' and new.usable_from >= now() - interval '1 minute'
      + (select cooldown_seconds from payout_limits order by id desc limit 1) * interval '1 second'
  ) then
    raise exception 'the cool-down of bank account % begins with its status, and ends no earlier', new.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger cooldown before update of status, usable_from on bank_accounts for each row
  when (new.usable_from is distinct from old.usable_from or new.status = 'active' and old.status <> 'active')
  execute function require_cooldown();

-- A day is the least in production: so long the owners can notice an account that none of them has added.
create function require_day_of_limits() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if least(new.cooldown_seconds, new.not_found_seconds) < 86400 and is_production() then
    raise exception 'in production the cool-down and the wait for the bank are at least a day'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger a_day_at_least before insert on payout_limits
  for each row execute function require_day_of_limits();

-- In production two operators change what payouts may move and cost, and start payouts again. Their request names the
-- row that it replaces, and the parameters the columns that change: so an approval of other values is of no use.
create function require_approved_row() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  is_approved boolean;
begin
  execute format('select exists (
      select from approvals join %I replaced on replaced.id = expected_version
      where is_in_execution(approvals, $1) and to_jsonb(replaced) || parameters
        || jsonb_build_object(''version'', (to_jsonb(replaced) ->> ''version'')::integer + 1,
          ''replaces_id'', replaced.id, ''ended_stop_id'', replaced.id) @> $2
    )', tg_table_name)
  into is_approved
  using tg_argv[0], to_jsonb(new) - array['id', 'created_at', 'is_stopped', 'changed_by', 'note', 'changed_at'];
  if is_production() and not is_approved then
    raise exception 'no two operators have approved this %', tg_argv[0] using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on payout_limits
  for each row execute function require_approved_row('payout.set_limits');

-- By database role: the dashboard proposes, confirms, withdraws and disables, whatever its statement is.
alter table bank_accounts enable row level security;
create policy every_status on bank_accounts to lunas_operator, lunas_payouts using (true);
create policy every_status_readable on bank_accounts for select
  to lunas_api, lunas_dashboard, lunas_worker, lunas_reader using (true);
create policy proposals on bank_accounts for insert to lunas_dashboard with check (status = 'pending_inquiry');
create policy withdrawals on bank_accounts for update to lunas_dashboard
  using (true) with check (status in ('withdrawn', 'disabled'));
-- The trigger `second_person` permits a confirmation only after the inquiry.
create policy confirmations on bank_accounts for update to lunas_dashboard
  using (status = 'pending_approval') with check (status = 'pending_approval' and confirmed_by is not null);

-- The second member, and notices --------------------------------------------------------------------------------------

-- Whether a proposed bank account waits for a second member of its merchant. An operator's proposal has its own two.
create function waits_for_member(bank_account uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (
    select from bank_accounts
    where id = bank_account and status in ('pending_inquiry', 'pending_approval') and confirmed_by is null
      and proposed_by like 'user:%' and required_approval(merchant_id, proposed_by) = 'second_user'
  );
end;

create function require_second_member() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if waits_for_member(new.id) then
    raise exception 'bank account % is not confirmed by a second member', new.id using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger second_member before update of status on bank_accounts for each row
  when (old.status = 'pending_approval' and new.status = 'active') execute function require_second_member();

-- Only a second person confirms, once, and the holder's name that the bank has reported.
create function require_second_person() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if old.confirmed_by is not null or old.status <> 'pending_approval' or new.status <> old.status
    or new.confirmed_by not like 'user:%'
    or not is_second_user(new.merchant_id, substr(new.confirmed_by, 6)::uuid, new.proposed_by) then
    raise exception '% may not confirm bank account %', new.confirmed_by, new.id using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger second_person before update of confirmed_by on bank_accounts for each row
  when (new.confirmed_by is distinct from old.confirmed_by) execute function require_second_person();

-- Each status of a bank account, and what went wrong with a payout or waits for a member.
create function notice_money() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(new.merchant_id, tg_argv[0] || new.status, new.id);
  return null;
end $$;
create trigger notice after insert on bank_accounts for each row execute function notice_money('bank_account.');
create trigger notice_of_change after update of status on bank_accounts for each row
  when (new.status <> old.status) execute function notice_money('bank_account.');

-- Rights --------------------------------------------------------------------------------------------------------------

-- The dashboard adds a number and reads none. Only workers with the role `payouts` open it, for the name
-- inquiry and for each call to the bank; operators only seal it again (`lunas keys reseal`).
grant select, insert on bank_account_transitions to lunas_payouts, lunas_operator;
grant insert on bank_account_transitions to lunas_dashboard;
grant select on bank_account_transitions to lunas_dashboard, lunas_reader;
grant select on bank_accounts to lunas_payouts, lunas_operator;
grant select (id, merchant_id, bank_code, last_four, sealed_holder_name, name_match, status, version, proposed_by,
  confirmed_by, inquired_at, usable_from, failure_reason, created_at, updated_at) on bank_accounts to lunas_dashboard;
grant insert (id, merchant_id, bank_code, sealed_number, number_hmac, last_four, status, version, proposed_by,
  created_at, updated_at) on bank_accounts to lunas_dashboard, lunas_operator;
grant update (status, version, confirmed_by, updated_at) on bank_accounts to lunas_dashboard;
grant update (sealed_holder_name, name_match, same_number_merchants, status, version, inquired_at, failure_reason,
  updated_at) on bank_accounts to lunas_payouts;
grant update (status, version, usable_from, failure_reason, updated_at, sealed_number, sealed_holder_name)
  on bank_accounts to lunas_operator;
grant select on payout_limits to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_operator, lunas_reader;
grant insert on payout_limits to lunas_operator;
revoke execute on function require_approved_bank_account, require_cooldown, require_day_of_limits, require_approved_row
  from public;
grant select (id, merchant_id, bank_code, last_four, name_match, status, version, proposed_by, confirmed_by,
  inquired_at, usable_from, created_at, updated_at) on bank_accounts to lunas_api, lunas_worker, lunas_reader;
revoke execute on function waits_for_member, require_second_member, require_second_person from public;
grant execute on function waits_for_member to lunas_dashboard, lunas_operator;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
