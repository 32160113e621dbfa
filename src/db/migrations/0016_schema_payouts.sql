-- Up Migration

set local role lunas_owner;

-- Payouts -------------------------------------------------------------------------------------------------------------

-- The rails of a payout, and what they cost: a change is a new version, and a payout keeps the one that it captured.
-- The window is in Western Indonesian Time (WIB).
create table payout_policies (
  id bigint generated always as identity primary key,
  rail text not null check (rail in ('bi_fast', 'online', 'skn', 'rtgs')),
  version integer not null check (version > 0),
  fee_rupiah bigint not null check (fee_rupiah >= 0),
  min_rupiah bigint not null check (min_rupiah > 0), -- of the amount that is sent
  max_rupiah bigint check (max_rupiah >= min_rupiah), -- null: no limit
  opens_at time(0) not null,
  closes_at time(0) not null check (closes_at > opens_at), -- 24:00: it does not close
  days text not null check (days in ('every', 'working')),
  expected_within_seconds integer not null check (expected_within_seconds > 0),
  is_enabled boolean not null,
  created_at timestamptz(3) not null default now(),
  unique (rail, version)
);
insert into payout_policies (rail, version, fee_rupiah, min_rupiah, max_rupiah, opens_at, closes_at, days,
  expected_within_seconds, is_enabled)
values
  ('bi_fast', 1, 2500, 10000, 250000000, '00:00', '24:00', 'every', 60, true),
  ('online', 1, 6500, 10000, 50000000, '00:00', '24:00', 'every', 300, false),
  ('skn', 1, 2900, 10000, 1000000000, '08:00', '14:00', 'working', 36000, false),
  ('rtgs', 1, 30000, 100000001, null, '08:00', '14:30', 'working', 14400, true);
create trigger two_operators before insert on payout_policies
  for each row execute function require_approved_row('payout.set_policy');

-- Days besides Saturdays and Sundays on which banks do not work.
create table bank_holidays (day date primary key);
create function is_working_day(wanted date) returns boolean language sql stable
  return extract(isodow from wanted) < 6 and not exists (select from bank_holidays where day = wanted);

-- While the newest row stops payouts, none is requested and none is sent.
create table payout_stops (
  id bigint generated always as identity primary key,
  is_stopped boolean not null,
  ended_stop_id bigint references payout_stops, -- the stop that this start ends
  changed_by text not null,
  note text not null,
  changed_at timestamptz(3) not null default now(),
  constraint payout_stops_ended_stop_id_if_started check (is_stopped = (ended_stop_id is null))
);
-- A start ends the stop that was seen. It is not written if there is a newer one: the rows are numbered in the order of
-- their commits.
create function order_payout_stop() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtext('payout_stops'));
  new.id := nextval(pg_get_serial_sequence('payout_stops', 'id'));
  return case when exists (select from payout_stops where id > new.ended_stop_id) then null else new end;
end $$;
create trigger unless_stopped_again before insert on payout_stops for each row execute function order_payout_stop();
-- One operator stops payouts.
create trigger two_operators before insert on payout_stops for each row
  when (not new.is_stopped) execute function require_approved_row('payout.start');

-- When a merchant's balance is paid out without a request. No row: never.
create table payout_settings (
  merchant_id uuid primary key references merchants,
  schedule text not null check (schedule in ('manual', 'daily', 'weekly')),
  weekday smallint check (weekday between 1 and 7), -- 1: Monday
  minimum_rupiah bigint not null default 50000 check (minimum_rupiah > 0), -- of a payout of the schedule
  changed_by text not null,
  approved_by text, -- null: no second member had to
  changed_at timestamptz(3) not null,
  constraint payout_settings_weekday_if_weekly check ((schedule = 'weekly') = (weekday is not null))
);

-- Settings that wait for a second member: one proposal of each merchant. The next one replaces it.
create table proposed_payout_settings (
  id uuid primary key,
  merchant_id uuid not null unique references merchants,
  schedule text not null check (schedule in ('daily', 'weekly')),
  weekday smallint check (weekday between 1 and 7),
  minimum_rupiah bigint not null check (minimum_rupiah > 0),
  proposed_by text not null,
  proposed_at timestamptz(3) not null,
  constraint proposed_payout_settings_weekday_if_weekly check ((schedule = 'weekly') = (weekday is not null))
);

-- The payout of each merchant whose turn it is, or was, to be requested. While its request is not decided, no other
-- one is started for the same money: docs/payouts.md.
create table payout_request_turns (
  merchant_id uuid primary key references merchants,
  payout_id uuid not null,
  taken_at timestamptz(3) not null default now()
);

-- A payout pays a merchant's available balance: the lines that it has claimed. Its columns are those of
-- `PAYOUT_TRANSITIONS`.
create table payouts (
  id uuid primary key,
  reference_id text not null unique, -- what the bank knows it by
  merchant_id uuid not null references merchants,
  bank_account_id uuid not null,
  provider_account_id uuid not null references provider_accounts, -- our account, which pays
  gross_rupiah bigint not null,
  fee_rupiah bigint not null check (fee_rupiah >= 0),
  amount_rupiah bigint not null check (amount_rupiah > 0), -- what the merchant receives
  rail text not null check (rail in ('bi_fast', 'online', 'skn', 'rtgs')),
  payout_policy_id bigint not null references payout_policies,
  line_count integer not null check (line_count >= 0),
  up_to_posting_id bigint not null, -- of the last line that it has claimed; 0: it is paid on account
  -- Recovery wrote it again. It claims no line, so its own line is part of the balance.
  is_rebuilt boolean not null default false,
  -- Who has to approve it, determined at the request. `none`: the workflow does.
  approval_kind text not null check (approval_kind in ('none', 'second_user', 'operator')),
  requested_by text not null,
  approved_by text,
  status text not null check (status in ('requested', 'approved', 'submitted', 'completed', 'failed', 'cancelled',
    'returned')),
  version integer not null check (version > 0), -- counts the transitions
  send_count smallint not null default 0 check (send_count >= 0), -- the permissions for a call to the bank
  send_outcome text check (send_outcome in ('accepted', 'rejected', 'indeterminate')), -- of the last call
  requested_at timestamptz(3) not null,
  submitted_at timestamptz(3), -- committed before the bank is called for the first time
  last_sent_at timestamptz(3),
  finished_at timestamptz(3),
  updated_at timestamptz(3) not null,
  bank_reference text,
  signalled_at timestamptz(3), -- when the sweeper last woke its workflow; null: since then it was deferred
  failure_kind text check (failure_kind in ('account', 'source_balance', 'cut_off', 'limit', 'other')),
  failure_reason text, -- why it failed or came back
  is_manual boolean not null default false, -- an operator resolved it with other evidence than the bank's status
  -- Merchant, account and its number, amounts and reference as they were requested. Each call to the bank compares them
  -- with the row: a column that was changed by hand stops the payout.
  sealed_terms text not null,
  foreign key (bank_account_id, merchant_id) references bank_accounts (id, merchant_id),
  constraint payouts_gross_is_amount_plus_fee check (gross_rupiah = amount_rupiah + fee_rupiah),
  constraint payouts_lines_unless_rebuilt check (not is_rebuilt or line_count = 0),
  constraint payouts_lines_unless_on_account check (is_rebuilt or (up_to_posting_id = 0) = (line_count = 0)),
  constraint payouts_approved_by_if_approved check (status in ('requested', 'cancelled') or approved_by is not null),
  constraint payouts_two_users check (approval_kind <> 'second_user' or approved_by <> requested_by),
  constraint payouts_submitted_at_if_submitted
    check ((status in ('requested', 'approved', 'cancelled')) = (submitted_at is null)),
  constraint payouts_sent_if_submitted
    check ((submitted_at is null) = (last_sent_at is null) and (submitted_at is null) = (send_count = 0)),
  constraint payouts_finished_if_resting
    check ((status in ('completed', 'failed', 'cancelled', 'returned')) = (finished_at is not null)),
  constraint payouts_failure_if_failed check (status <> 'failed' or num_nonnulls(failure_kind, failure_reason) = 2)
);
create index payouts_merchant_idx on payouts (merchant_id, requested_at desc, id desc);
create index payouts_requested_at_idx on payouts (requested_at desc, id desc);
create index payouts_open_idx on payouts (id) where status in ('requested', 'approved', 'submitted');
create index payouts_in_transit_idx on payouts (merchant_id) include (amount_rupiah)
  where status in ('requested', 'approved', 'submitted');
create index payouts_returned_idx on payouts (updated_at) where status = 'returned';
create index payouts_resting_idx on payouts (updated_at, id)
  where status in ('completed', 'failed', 'cancelled', 'returned');

create table payout_transitions (
  payout_id uuid not null references payouts,
  version integer not null check (version > 0),
  name text not null,
  from_status text,
  to_status text not null,
  occurred_at timestamptz(3) not null,
  actor text not null,
  note text,
  recorded_at timestamptz(3) not null default now(),
  request_id text,
  traceparent text,
  primary key (payout_id, version)
);
create index payout_transitions_recorded_at_idx on payout_transitions (recorded_at, payout_id);

create table payout_events (
  payout_id uuid not null,
  payout_version integer not null,
  event text not null,
  body text not null, -- the very bytes that are signed and sent
  occurred_at timestamptz(3) not null,
  recorded_xid xid8 not null default pg_current_xact_id(), -- as that of `webhook_events`
  primary key (payout_id, payout_version),
  foreign key (payout_id, payout_version) references payout_transitions
);
create index payout_events_recorded_xid_idx on payout_events (recorded_xid);

alter table ledger_postings add foreign key (payout_id, payout_version) references payout_transitions;
alter table balance_transactions add foreign key (payout_id) references payouts;
alter table webhook_deliveries add foreign key (payout_id, payout_version) references payout_events;

-- Only the request of a payout claims lines, and only those of its merchant. Once the payout has its own line, another
-- claim would take money from the merchant: the sum is not zero then.
create function require_claim_of_request() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  claim record;
begin
  for claim in select distinct payout_id, merchant_id from claimed where payout_id is not null loop
    if not exists (
      select from payouts where id = claim.payout_id and merchant_id = claim.merchant_id and not is_rebuilt
    ) or exists (
      select from balance_transactions where payout_id = claim.payout_id
      having bool_or(kind = 'payout' and source_payout_id = claim.payout_id) and sum(amount_rupiah) <> 0
    ) then
      raise exception 'payout % cannot claim these lines', claim.payout_id using errcode = 'check_violation';
    end if;
  end loop;
  return null;
end $$;
create trigger claim_of_request after update on balance_transactions
  referencing new table as claimed
  for each statement execute function require_claim_of_request();

-- What was requested never changes. The terms can be sealed again with another master key.
create trigger terms_are_final before update on payouts for each row
  when (
    (old.id, old.reference_id, old.merchant_id, old.bank_account_id, old.provider_account_id, old.gross_rupiah,
      old.fee_rupiah, old.amount_rupiah, old.rail, old.payout_policy_id, old.line_count, old.up_to_posting_id,
      old.is_rebuilt, old.approval_kind, old.requested_by, old.requested_at)
    is distinct from (new.id, new.reference_id, new.merchant_id, new.bank_account_id, new.provider_account_id,
      new.gross_rupiah, new.fee_rupiah, new.amount_rupiah, new.rail, new.payout_policy_id, new.line_count,
      new.up_to_posting_id, new.is_rebuilt, new.approval_kind, new.requested_by, new.requested_at)
    or (old.approved_by is not null and new.approved_by is distinct from old.approved_by)
    or (old.submitted_at is not null and new.submitted_at is distinct from old.submitted_at)
    or new.send_count < old.send_count
    or not is_resealed(old.sealed_terms, new.sealed_terms)
  ) execute function forbid_mutation();
create trigger status_is_final before update of status on payouts for each row
  when (old.status in ('cancelled', 'returned') and new.status <> old.status) execute function forbid_mutation();
create trigger begins_as_request before insert on payouts for each row
  when (new.status <> 'requested' or new.version <> 1) execute function forbid_mutation();

-- Whether two operators have approved an action for this version of a payout, and the action is executed now. The
-- resolution is null for an action that has none. A sandbox needs one operator.
create function is_approved_payout_action(wanted_action text, payout uuid, payout_version integer, resolution text)
  returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (select from installation where environment = 'sandbox') or exists (
    select from approvals
    where is_in_execution(approvals, wanted_action)
      and parameters ->> 'payout' = payout::text and expected_version = payout_version
      and parameters ->> 'resolution' is not distinct from resolution
  );
end;

-- A payout is approved by whom its request determined. A payout that recovery writes again was approved before. The
-- code of this error and of that below is none of PostgreSQL: so an activity tells a missing approval from a defect.
create function require_approved_payout() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not (case
    when new.is_rebuilt then true
    -- The bank may have it. It is not sent, so it needs no approval.
    when new.approved_by = 'workflow' and new.approval_kind <> 'none' then exists (
      select from recovery_mode mode
        join payout_transitions history on history.payout_id = new.id and history.version = 1
      where mode.begun_at > coalesce(mode.ended_at, '-infinity') or history.recorded_at <= mode.ended_at)
    when new.approval_kind = 'none' then new.approved_by = 'workflow'
    when new.approval_kind = 'second_user' then new.approved_by like 'user:%'
      and is_second_user(new.merchant_id, substr(new.approved_by, 6)::uuid, new.requested_by)
    else (new.approved_by like 'operator:%' or new.approved_by like 'cli:%')
      and is_approved_payout_action('payout.approve', new.id, old.version, null)
  end) then
    raise exception 'payout % is not approved by the right people', new.id using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger approval before update of status on payouts for each row
  when (new.status = 'approved' and old.status <> 'approved') execute function require_approved_payout();

-- A schedule approves payouts that it has not requested yet: so the people change it who may request and approve one,
-- and owners notice it. If there are others who do not count as a second person, nobody does. A stop needs no voice.
create function may_change_schedule(settings payout_settings) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select settings.schedule = 'manual'
    or (authorises_payouts(settings.merchant_id, substr(settings.changed_by, 6)::uuid)
      and case required_approval(settings.merchant_id, settings.changed_by)
        when 'second_user' then settings.approved_by like 'user:%'
          and is_second_user(settings.merchant_id, substr(settings.approved_by, 6)::uuid, settings.changed_by)
        when 'operator' then false
        else true
      end);
end;
create function require_authorised_schedule() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.changed_by not like 'user:%' or not coalesce(may_change_schedule(new), false) then
    raise exception '% may not change the payouts of merchant %', new.changed_by, new.merchant_id
      using errcode = 'LN001';
  end if;
  perform write_notice(new.merchant_id, 'payout.schedule_changed', substr(new.changed_by, 6)::uuid);
  return new;
end $$;
create trigger approval before insert or update on payout_settings for each row
  execute function require_authorised_schedule();

-- The other members have to see that there is something to approve.
create function notice_proposed_schedule() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(new.merchant_id, 'payout.schedule_proposed', substr(new.proposed_by, 6)::uuid);
  return null;
end $$;
create trigger notice after insert or update on proposed_payout_settings for each row
  execute function notice_proposed_schedule();
create trigger notice_of_failure after update of status on payouts for each row
  when (new.status in ('failed', 'returned') and new.status <> old.status) execute function notice_money('payout.');
create function notice_waiting_payout() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(new.merchant_id, 'payout.waiting_for_approval', new.id);
  return null;
end $$;
create trigger notice after insert on payouts for each row
  when (new.approval_kind = 'second_user' and not new.is_rebuilt) execute function notice_waiting_payout();

-- What an operator resolves or sends again needs a second one in production.
create function require_approved_resolution() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  wanted constant text := case new.name when 'resend' then 'payout.resend' else 'payout.resolve' end;
  -- `completed` of `resolve_failed_as_completed`.
  resolution constant text := nullif(split_part(new.name, '_as_', 2), '');
begin
  if not is_approved_payout_action(wanted, new.payout_id, new.version - 1, resolution) then
    raise exception '% of payout % is not approved by two operators', new.name, new.payout_id using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger two_operators before insert on payout_transitions for each row
  when (new.name in ('resolve_as_completed', 'resolve_as_failed', 'resolve_as_returned', 'resolve_failed_as_completed')
    or (new.name = 'resend' and new.actor <> 'workflow'))
  execute function require_approved_resolution();

-- Rights --------------------------------------------------------------------------------------------------------------

-- The dashboard and operators request every change from the payout's workflow, and workers with the role `payouts`
-- write it: they alone call the bank, claim lines and write postings of payouts. Operators only seal the terms again
-- (`lunas keys reseal`).
grant select, insert, update (status, version, approved_by, send_count, send_outcome, submitted_at, last_sent_at,
  finished_at, updated_at, bank_reference, failure_kind, failure_reason, is_manual) on payouts to lunas_payouts;
grant select, insert on payout_transitions, payout_events to lunas_payouts;
grant select on payout_transitions, payout_events to lunas_worker;
grant select, update (sealed_terms) on payouts to lunas_operator;
grant select (id, reference_id, merchant_id, bank_account_id, provider_account_id, gross_rupiah, fee_rupiah,
  amount_rupiah, rail, payout_policy_id, line_count, up_to_posting_id, is_rebuilt, approval_kind, requested_by,
  approved_by, status, version, send_count, send_outcome, requested_at, submitted_at, last_sent_at, finished_at,
  updated_at, bank_reference, failure_kind, failure_reason, is_manual) on payouts
  to lunas_api, lunas_dashboard, lunas_worker, lunas_reader;
grant select (signalled_at), update (signalled_at) on payouts to lunas_worker; -- the sweeper
grant select on payout_transitions to lunas_api, lunas_dashboard, lunas_operator, lunas_reader;
grant select on payout_events to lunas_api, lunas_dashboard, lunas_operator;
grant select (payout_id, payout_version, event, occurred_at) on payout_events to lunas_reader;
-- The operator API shows payouts and stops them. It reads no sealed column, and no name of a user.
grant select on payout_policies, bank_holidays to lunas_api;
grant select, insert on payout_stops to lunas_api;
grant select on payout_policies, bank_holidays, payout_stops, payout_settings, proposed_payout_settings
  to lunas_dashboard, lunas_worker, lunas_payouts, lunas_operator, lunas_reader;
grant insert on payout_policies, bank_holidays, payout_stops to lunas_operator;
grant select, insert, update (payout_id, taken_at) on payout_request_turns
  to lunas_dashboard, lunas_operator, lunas_worker, lunas_payouts;
grant insert, update (schedule, weekday, minimum_rupiah, changed_by, approved_by, changed_at) on payout_settings
  to lunas_dashboard;
grant insert, update (id, schedule, weekday, minimum_rupiah, proposed_by, proposed_at), delete
  on proposed_payout_settings to lunas_dashboard;
revoke execute
  on function is_approved_payout_action, require_approved_payout, require_authorised_schedule,
  require_approved_resolution from public;
revoke execute on function may_change_schedule, notice_proposed_schedule from public;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
