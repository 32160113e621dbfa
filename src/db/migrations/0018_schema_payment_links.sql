-- Up Migration

set local role lunas_owner;

-- Payment links -------------------------------------------------------------------------------------------------------

-- A link is a template of payments, with an address that the merchant gives to customers. It has no status: what it is
-- follows from its payments, its end and the time. The title is shown to every visitor, so it is not sealed.
create table payment_links (
  id uuid primary key,
  reference_id text not null unique,
  merchant_id uuid not null references merchants,
  provider text not null check (provider in ('gopay', 'shopeepay')),
  kind text not null check (kind in ('once', 'reusable')),
  amount_rupiah bigint check (amount_rupiah between 1 and 10000000),
  -- The customer chooses the amount between these.
  minimum_rupiah bigint check (minimum_rupiah between 1 and 10000000),
  maximum_rupiah bigint check (maximum_rupiah between 1 and 10000000),
  title text not null check (char_length(title) between 1 and 100),
  merchant_reference_id text check (char_length(merchant_reference_id) <= 64),
  return_url text check (char_length(return_url) <= 500),
  expires_at timestamptz(3),
  payment_expires_in_seconds integer check (payment_expires_in_seconds between 60 and 86400),
  idempotency_key text,
  fingerprint text not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  closed_at timestamptz(3),
  closed_by text,
  -- Of the payments by it that were paid, also of those that were refunded or archived since.
  paid_count integer not null default 0,
  paid_rupiah bigint not null default 0,
  constraint payment_links_amount_or_bounds check (
    case when amount_rupiah is null then num_nonnulls(minimum_rupiah, maximum_rupiah) = 2
      and minimum_rupiah <= maximum_rupiah
    else num_nonnulls(minimum_rupiah, maximum_rupiah) = 0 end),
  constraint payment_links_closed_by_actor check ((closed_at is null) = (closed_by is null))
);
create index payment_links_merchant_created_at_idx on payment_links (merchant_id, created_at desc, id desc);
-- The lists of the statuses that few links may have.
create index payment_links_paid_idx on payment_links (merchant_id, created_at desc, id desc)
  where kind = 'once' and paid_count > 0;
create index payment_links_closed_idx on payment_links (merchant_id, created_at desc, id desc)
  where closed_at is not null;
create index payment_links_expiring_idx on payment_links (merchant_id, created_at desc, id desc)
  where closed_at is null and expires_at is not null;

-- A link is closed once. Of the rest only what its payments paid changes: its address was given away with these terms.
create trigger closed_once before update on payment_links for each row
  when ((old.closed_at is not null and (new.closed_at, new.closed_by) is distinct from (old.closed_at, old.closed_by))
    or to_jsonb(new) - array['closed_at', 'closed_by', 'paid_count', 'paid_rupiah']
      <> to_jsonb(old) - array['closed_at', 'closed_by', 'paid_count', 'paid_rupiah'])
  execute function forbid_mutation();

-- The payments of a link, by number. The row is written before the payment, so a process that dies in between leaves a
-- number whose payment the next visitor creates.
create table payment_link_payments (
  link_id uuid not null references payment_links,
  number integer not null check (number > 0),
  payment_id uuid not null unique,
  created_at timestamptz(3) not null,
  primary key (link_id, number)
);

-- The figures of a link are counted when a payment is paid: a list that summed them would read every payment.
create function count_paid_by_link() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update payment_links link set paid_count = paid_count + 1, paid_rupiah = paid_rupiah + new.amount_rupiah
  from payment_link_payments own where own.payment_id = new.id and link.id = own.link_id;
  return null;
end $$;
create trigger paid_by_link after update of paid_at on payments for each row
  when (old.paid_at is null and new.paid_at is not null) execute function count_paid_by_link();

-- The first that holds. A payment of less than a minute is not possible, so the link ends a minute before its end.
create function payment_link_status(kind text, has_paid boolean, closed_at timestamptz, expires_at timestamptz,
  at timestamptz) returns text language sql immutable parallel safe as $$
  select case when kind = 'once' and has_paid then 'paid'
    when closed_at is not null then 'closed'
    when expires_at < at + interval '60 seconds' then 'expired'
    else 'active' end
$$;

-- The payment of a visitor who opens a link: `found` or `new`, or why there is none.
--
-- The lock on the link comes first. Each statement after it sees what the visitor before has committed, so two visitors
-- get one number. The newest payment of a once-link is that of every visitor until it ended unpaid.
create function open_payment_link(link uuid, payment uuid, wanted_number integer, at timestamptz, ended text[],
  per_minute integer, max_open integer, max_payments integer)
  returns table (outcome text, payment_id uuid, number integer)
  language plpgsql set search_path = public, pg_temp as $$
declare
  locked payment_links;
  newest payment_link_payments;
  link_status text;
  is_open boolean;
  next_number integer;
begin
  select * into locked from payment_links where id = link for no key update;
  if locked.kind = 'reusable' then
    -- The same page was sent twice.
    select own.* into newest from payment_link_payments own where own.payment_id = payment;
    if found then return query select 'found', newest.payment_id, newest.number; return; end if;
  end if;
  link_status := payment_link_status(locked.kind, locked.paid_count > 0, locked.closed_at, locked.expires_at, at);
  select own.* into newest from payment_link_payments own where own.link_id = link order by own.number desc limit 1;
  next_number := coalesce(newest.number, 0) + 1;
  if link_status <> 'active' then return query select link_status, null::uuid, newest.number; return; end if;
  if locked.kind = 'once' then
    is_open := newest.number is not null
      and not exists (select from payments where payments.id = newest.payment_id and payments.status = any (ended))
      and not exists (select from archived_payments where archived_payments.payment_id = newest.payment_id);
    if is_open then return query select 'found', newest.payment_id, newest.number; return; end if;
    -- The id of the payment follows from its number: the caller has to compute another one.
    if next_number <> wanted_number then return query select 'moved', null::uuid, newest.number; return; end if;
  end if;
  if next_number > max_payments then return query select 'used_up', null::uuid, newest.number; return; end if;
  if (select own.created_at > at - interval '1 minute' from payment_link_payments own
      where own.link_id = link order by own.number desc offset per_minute - 1 limit 1) then
    return query select 'too_many_new', null::uuid, newest.number; return;
  end if;
  -- No payment is open for longer than a day.
  if (select count(*) >= max_open from (
      select from payment_link_payments own join payments on payments.id = own.payment_id
      where own.link_id = link and own.created_at > at - interval '25 hours'
        and payments.status in ('created', 'pending')
      limit max_open) open_payments) then
    return query select 'too_many_open', null::uuid, newest.number; return;
  end if;
  insert into payment_link_payments (link_id, number, payment_id, created_at) values (link, next_number, payment, at);
  return query select 'new', payment, next_number;
end $$;

-- Rights --------------------------------------------------------------------------------------------------------------

-- Visitors open a link at the API; merchants make and close links there and in the dashboard. An update is the lock.
revoke execute on function open_payment_link, count_paid_by_link from public;
grant execute on function open_payment_link to lunas_api;
grant select, insert, update (closed_at, closed_by) on payment_links to lunas_api, lunas_dashboard;
grant select, insert on payment_link_payments to lunas_api;
grant select on payment_link_payments to lunas_dashboard;
grant select on payment_links, payment_link_payments to lunas_operator, lunas_reader;

-- Down Migration

-- There is none: links were given away, and their payments stay. Restore a backup.
