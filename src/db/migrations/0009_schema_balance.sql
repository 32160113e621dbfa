-- Up Migration

set local role lunas_owner;

-- Balance -------------------------------------------------------------------------------------------------------------

-- The booking day of a timestamp: its day in Western Indonesian Time (WIB), as at a bank.
create function booking_day(at timestamptz) returns date language sql immutable strict parallel safe
  return (at at time zone 'Asia/Jakarta')::date;

-- One row, a line, for each change of a merchant's available balance, which is the sum of its lines. A line stays for
-- good, also when the archive takes the posting: so it has no foreign key to postings or payments. The posting has
-- that to the merchant.
create table balance_transactions (
  posting_id bigint primary key,
  merchant_id uuid not null,
  kind text not null check (kind in ('settlement', 'refund_fee', 'payout', 'payout_cancelled', 'payout_failed',
    'payout_returned', 'payout_conflict', 'fee_credit')),
  amount_rupiah bigint not null check (amount_rupiah <> 0), -- above zero: the balance grows
  payment_id uuid,
  source_payout_id uuid,
  adjustment_id uuid,
  occurred_at timestamptz(3) not null, -- the business timestamp of the posting
  booked_on date not null, -- the day on which PostgreSQL recorded it
  confirmed_at timestamptz(3), -- the acquirer has reported it as paid
  payout_id uuid, -- null until a payout claims the line
  constraint balance_transactions_has_one_source check (num_nonnulls(payment_id, source_payout_id, adjustment_id) = 1)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);
create index balance_transactions_day_idx on balance_transactions (merchant_id, booked_on, posting_id);
create index balance_transactions_unclaimed_idx on balance_transactions (merchant_id, posting_id)
  where payout_id is null;
-- A line that is not claimed costs nothing here.
create index balance_transactions_payout_idx on balance_transactions (payout_id, posting_id)
  where payout_id is not null;

-- A payout claims a line once, and the acquirer confirms it once. Nothing else of a line changes.
create trigger append_only before update on balance_transactions for each row
  when (
    (old.posting_id, old.merchant_id, old.kind, old.amount_rupiah, old.payment_id, old.source_payout_id,
      old.adjustment_id, old.occurred_at, old.booked_on)
    is distinct from (new.posting_id, new.merchant_id, new.kind, new.amount_rupiah, new.payment_id,
      new.source_payout_id, new.adjustment_id, new.occurred_at, new.booked_on)
    or (old.payout_id is not null and new.payout_id is distinct from old.payout_id)
    or (old.confirmed_at is not null and new.confirmed_at is distinct from old.confirmed_at)
  ) execute function forbid_mutation();
create trigger append_only_delete before delete on balance_transactions for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on balance_transactions execute function forbid_mutation();

-- Every day up to the newest row has ended: no line is booked on one.
create table ended_days (day date primary key);

-- Every day up to the newest row is closed: it has ended, and its sums are in `balance_days`.
create table closed_days (
  day date primary key,
  closed_at timestamptz(3) not null default now()
);

-- The balance of a merchant at the end of a closed day that has lines, and the sums of these. The merchant is that of
-- the lines: a foreign key would read and lock the row of every merchant when a day is closed.
create table balance_days (
  merchant_id uuid not null,
  day date not null references closed_days,
  closing_rupiah bigint not null,
  credit_rupiah bigint not null check (credit_rupiah >= 0),
  debit_rupiah bigint not null check (debit_rupiah >= 0),
  line_count bigint not null check (line_count > 0),
  primary key (merchant_id, day)
);

-- Sums of the counted lines of days that are not closed. The worker adds new lines every few seconds
-- (open-balance-days.ts), so that a balance reads few lines: the newest closing, these sums, and what is not counted.
-- A day is closed from them, too.
create table open_balance_days (
  merchant_id uuid not null references merchants,
  day date not null,
  credit_rupiah bigint not null check (credit_rupiah >= 0),
  debit_rupiah bigint not null check (debit_rupiah >= 0),
  line_count bigint not null check (line_count > 0),
  primary key (merchant_id, day)
);

-- Books the line of an entry, for every writer of the ledger, as the owner: no role may insert a line. The line is what
-- the transition or the adjustment of the posting implies, and a posting that says otherwise is rejected. The insert
-- waits while a day ends, and reads `ended_days` after that. A posting of a payment is looked for first: most are of
-- one. The line of a request belongs to its payout, which has claimed its lines by then: all of one payout together are
-- zero. That of a payout without lines stays in the balance. No request takes more than the balance, also if several of
-- a merchant commit together: the lock orders them, and the statement after it has a new snapshot.
create function book_balance_transaction() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  change constant bigint := case new.side when 'credit' then new.amount_rupiah else -new.amount_rupiah end;
  booked balance_transactions;
begin
  insert into balance_transactions
    (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
  select posting.id, payment.merchant_id, case to_status when 'settled' then 'settlement' else 'refund_fee' end, change,
    payment.id, posting.occurred_at, greatest(booking_day(now()), (select max(day) + 1 from ended_days))
  from ledger_postings posting
    join payment_transitions transition
      on transition.payment_id = posting.payment_id and transition.version = posting.payment_version
    join payments payment on payment.id = posting.payment_id and payment.merchant_id = posting.merchant_id
  where posting.id = new.posting_id
    and case to_status when 'settled' then net_rupiah when 'refunded' then -fee_rupiah end = change;
  if found then
    return null;
  end if;
  insert into balance_transactions
    (posting_id, merchant_id, kind, amount_rupiah, adjustment_id, occurred_at, booked_on)
  select posting.id, adjustment.merchant_id, adjustment.kind, change, adjustment.id, posting.occurred_at,
    greatest(booking_day(now()), (select max(day) + 1 from ended_days))
  from ledger_postings posting
    join balance_adjustments adjustment
      on adjustment.id = posting.adjustment_id and adjustment.merchant_id = posting.merchant_id
  where posting.id = new.posting_id and adjustment.amount_rupiah = change;
  if found then
    return null;
  end if;
  insert into balance_transactions
    (posting_id, merchant_id, kind, amount_rupiah, source_payout_id, occurred_at, booked_on, payout_id)
  select posting.id, payout.merchant_id,
    case to_status when 'requested' then 'payout' when 'completed' then 'payout_conflict'
      else 'payout_' || to_status end,
    change, payout.id, posting.occurred_at, greatest(booking_day(now()), (select max(day) + 1 from ended_days)),
    case when to_status = 'requested' and line_count > 0 then payout.id end
  from ledger_postings posting
    join payout_transitions transition
      on transition.payout_id = posting.payout_id and transition.version = posting.payout_version
    join payouts payout on payout.id = posting.payout_id and payout.merchant_id = posting.merchant_id
  where posting.id = new.posting_id and change = case
    when to_status in ('cancelled', 'failed') then gross_rupiah
    when to_status = 'returned' then payout.amount_rupiah
    when to_status = 'requested' or (from_status = 'failed' and to_status = 'completed') then -gross_rupiah
  end
  returning * into booked;
  if not found then
    raise exception 'ledger posting % changes a balance, and its transition does not', new.posting_id
      using errcode = 'check_violation';
  end if;
  if booked.payout_id is not null and exists (
    select from balance_transactions line where line.payout_id = booked.payout_id
    having sum(amount_rupiah) <> 0 or bool_or(merchant_id <> booked.merchant_id)
  ) then
    raise exception 'payout % does not pay its lines', booked.payout_id using errcode = 'check_violation';
  end if;
  if booked.kind = 'payout' and exists (select from payouts where id = booked.source_payout_id and not is_rebuilt) then
    perform pg_advisory_xact_lock(hashtextextended('payouts of ' || booked.merchant_id, 0));
    if available_balance(booked.merchant_id) < 0 then
      raise exception 'payout % is more than the balance', booked.source_payout_id using errcode = 'check_violation';
    end if;
  end if;
  return null;
end $$;
create trigger balance_transaction after insert on ledger_entries for each row
  when (new.account = 'merchant_available') execute function book_balance_transaction();

-- Ends all days up to this one: the lock waits for each transaction that has booked a line, and holds back the next,
-- which books on the day after. Nothing else happens under the lock: it takes as long at a hundred million lines. Two
-- seconds suffice for autovacuum to give way, which it does after one; a longer wait would hold settlements back, so
-- the caller repeats the call instead.
create function end_days_until(last_day date) returns void
language plpgsql set search_path = public, pg_temp set lock_timeout = '2s' as $$
begin
  if last_day <= (select max(day) from ended_days) then return; end if;
  lock table balance_transactions in share row exclusive mode;
  insert into ended_days (day) values (last_day) on conflict do nothing;
end $$;

-- Ends the days that were over at least 25 minutes ago by the clock of PostgreSQL, and before `today` by the clock of
-- the caller: a clock that is ahead ends no day. The 25 minutes are for a server with a slow clock that takes over:
-- its lines are still booked on their day. The schedule begins five minutes later, so a clock that is behind Temporal's
-- does not leave the day open until the next one.
create function end_days(today date) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform end_days_until(least(booking_day(now() - interval '25 minutes'), today) - 1);
end $$;

-- Closes the first day that has ended and is not closed, and returns it; null: there is none. It needs no lock of the
-- lines, because the day has all of its lines. It reads the few that are not counted yet, which the counting of lines
-- waits for. The upper bound of their range is for the planner: it expects few rows.
create function close_next_day() returns date
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  counted bigint;
  last_ended date;
  next_day date;
begin
  select line_posting_id into strict counted from totals_progress for update;
  select max(day) into last_ended from ended_days;
  next_day := coalesce((select max(day) + 1 from closed_days), least(last_ended,
    (select min(day) from open_balance_days),
    (select min(booked_on) from balance_transactions where posting_id > counted and posting_id < 9007199254740991)));
  if next_day <= last_ended is not true then return null; end if;

  insert into closed_days (day) values (next_day);
  insert into balance_days (merchant_id, day, closing_rupiah, credit_rupiah, debit_rupiah, line_count)
  select change.merchant_id, next_day, coalesce(before.closing_rupiah, 0) + credit_rupiah - debit_rupiah,
    credit_rupiah, debit_rupiah, line_count
  from (
    select merchant_id, sum(credit_rupiah)::bigint as credit_rupiah, sum(debit_rupiah)::bigint as debit_rupiah,
      sum(line_count)::bigint as line_count
    from (
      select merchant_id, credit_rupiah, debit_rupiah, line_count from open_balance_days where day = next_day
      union all
      select merchant_id, greatest(amount_rupiah, 0), greatest(-amount_rupiah, 0), 1 from balance_transactions
      where posting_id > counted and posting_id < 9007199254740991 and booked_on = next_day
    ) part
    group by merchant_id
  ) change
  left join lateral (
    select closing_rupiah from balance_days
    where balance_days.merchant_id = change.merchant_id and day < next_day order by day desc limit 1
  ) before on true;
  delete from open_balance_days where day <= next_day;
  return next_day;
end $$;

-- Periods -------------------------------------------------------------------------------------------------------------

-- An invoice covers the postings after the period before, up to that of its own. A cut decides them, whatever month
-- their payments are of: so nothing is booked into a period that is issued.
create table fee_periods (
  month date not null check (extract(day from month) = 1),
  part integer not null check (part > 0), -- only a sandbox cuts a month that is not over
  up_to_posting_id bigint not null check (up_to_posting_id >= 0),
  cut_at timestamptz(3) not null default now(),
  counted_posting_id bigint, -- up to which posting its lines are summed; null: none is
  issued_at timestamptz(3), -- null: its invoices are not issued yet
  primary key (month, part)
);
-- No invoice covers what was before the first cut.
insert into fee_periods (month, part, up_to_posting_id, issued_at)
values (date_trunc('month', booking_day(now()) - interval '1 month'), 1, 0, now());
create trigger issued_once before update on fee_periods for each row
  when (old.issued_at is not null
    or (old.month, old.part, old.up_to_posting_id, old.cut_at)
      is distinct from (new.month, new.part, new.up_to_posting_id, new.cut_at))
  execute function forbid_mutation();

-- Cuts a month in WIB that is over, once, and returns the part. In a sandbox also the month that is not over, each time
-- as its next part. The lock waits for each transaction that has written a posting, and holds back the next, whose
-- posting has a greater id. It is held for two look-ups in indexes; the caller repeats a call that waited too long.
create function cut_fee_period(wanted date) returns integer
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  newest fee_periods;
  this_month constant date := date_trunc('month', booking_day(now()));
  found_part integer;
begin
  if wanted > this_month or (wanted = this_month and is_production()) then
    raise exception 'month % is not over', to_char(wanted, 'YYYY-MM') using errcode = 'LN003';
  end if;
  -- The snapshot of another level can be older than the newest cut, and would cut the month before it a second time.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'a cut needs the isolation level read committed' using errcode = '25001';
  end if;
  -- The cut of a month that is over is its last one.
  select part into found_part from fee_periods
  where month = wanted and booking_day(cut_at) >= month + interval '1 month';
  if found then return found_part; end if;
  lock table ledger_postings in share row exclusive mode;
  select part into found_part from fee_periods
  where month = wanted and booking_day(cut_at) >= month + interval '1 month';
  if found then return found_part; end if;
  select * into strict newest from fee_periods order by month desc, part desc limit 1;
  if newest.month > wanted then
    raise exception 'month % was not cut before %', to_char(wanted, 'YYYY-MM'), to_char(newest.month, 'YYYY-MM')
      using errcode = 'LN003';
  end if;
  found_part := case when newest.month = wanted then newest.part + 1 else 1 end;
  insert into fee_periods (month, part, up_to_posting_id)
  values (wanted, found_part, greatest(newest.up_to_posting_id, (select max(id) from ledger_postings)));
  return found_part;
end $$;

-- Totals --------------------------------------------------------------------------------------------------------------

-- Totals of payments, for figures: a page must not count payments. The worker adds the transitions to them
-- (payment-totals.ts), so they are some seconds old. The archive leaves them as they are: they count its payments too.
-- The key includes the sums, because the rows of one merchant are spread over the table.
create table payment_hour_totals (
  merchant_id uuid not null references merchants,
  status text not null,
  hour timestamptz(0) not null, -- of the creation
  provider text not null,
  payments integer not null,
  total_rupiah bigint not null,
  net_rupiah bigint not null,
  primary key (merchant_id, status, hour, provider) include (payments, total_rupiah, net_rupiah)
);

-- Up to which number the totals count the transitions; up to which posting the open days count the lines of balances;
-- and how far the nightly pass is.
create table totals_progress (
  is_only boolean primary key default true check (is_only), -- one row
  counted_at timestamptz(3) not null, -- the last time when everything was counted
  transition_number bigint not null default 0,
  line_posting_id bigint not null default 0,
  recomputed_on date not null, -- the last complete pass, in WIB
  recomputed_merchant uuid, -- the last one of the pass that runs; null: none runs
  recomputed_until timestamptz(3) -- up to which hour of its payments; null: all of them
);
insert into totals_progress (counted_at, recomputed_on) values ('epoch', 'epoch');

-- The available balance of a merchant: the newest closing, the sums of counted lines since, and the few lines that are
-- not counted. It is the sum of all lines, and of the unclaimed ones: those of a payout are zero together. The upper
-- bound of the range is for the planner, which expects few rows then.
create function available_balance(merchant uuid) returns bigint language sql stable as $$
  with uncounted as materialized (
    select merchant_id, booked_on as day, amount_rupiah from balance_transactions
    where posting_id > (select line_posting_id from totals_progress) and posting_id <= 9007199254740991
  ),
  changes as (
    select day, credit_rupiah - debit_rupiah as rupiah from open_balance_days where merchant_id = merchant
    union all
    select day, amount_rupiah from uncounted where merchant_id = merchant
  )
  select (coalesce((
    select closing_rupiah from balance_days where merchant_id = merchant order by day desc limit 1
  ), 0) + coalesce((
    select sum(rupiah) from changes where day > coalesce((select max(day) from closed_days), '-infinity')
  ), 0))::bigint
$$;

-- Rights --------------------------------------------------------------------------------------------------------------

-- A trigger of the ledger writes lines, and the worker closes days: no role has more than these rights.
grant select on balance_transactions, ended_days, closed_days, balance_days, open_balance_days
  to lunas_operator, lunas_reader;
grant select on balance_transactions, closed_days to lunas_worker;
revoke execute on function book_balance_transaction, end_days_until, end_days, close_next_day, cut_fee_period
  from public;
grant execute on function cut_fee_period to lunas_worker, lunas_operator;
grant select on fee_periods to lunas_worker, lunas_dashboard, lunas_operator, lunas_reader;
grant execute on function end_days, close_next_day to lunas_worker;
grant select on balance_transactions, ended_days, closed_days, balance_days, open_balance_days to lunas_dashboard;
grant select, update (payout_id) on balance_transactions to lunas_payouts;
grant select on closed_days, balance_days, open_balance_days, totals_progress to lunas_payouts;
grant select on balance_transactions, closed_days, balance_days, open_balance_days, totals_progress to lunas_api;
-- The worker keeps the totals, `lunas ledger verify` compares them with the payments, and pages show them.
grant select, insert, update, delete on payment_hour_totals to lunas_worker;
grant select, insert, update on open_balance_days to lunas_worker;
grant select, update (counted_at, transition_number, line_posting_id, recomputed_on, recomputed_merchant,
  recomputed_until) on totals_progress to lunas_worker;
grant select on payment_hour_totals, totals_progress to lunas_operator, lunas_dashboard, lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
