-- Up Migration

set local role lunas_owner;

-- What members see: activity and notices ------------------------------------------------------------------------------

-- What users do on the pages: written before the action, and its outcome after it, as the log of operators. It has no
-- hash chain, whose lock would order all users of all merchants. Money is proven by transitions and the ledger.
create table user_actions (
  id bigint generated always as identity primary key,
  actor text not null, -- `user:<id>`
  via text not null check (via = 'dashboard'),
  user_id uuid not null references users,
  merchant_id uuid references merchants, -- null: it belongs to the login, not to a merchant
  action text not null,
  target text not null,
  note text,
  requested_at timestamptz(3) not null default clock_timestamp(),
  detail text,
  address inet not null
);
create index user_actions_merchant_id_idx on user_actions (merchant_id, id desc);
create index user_actions_user_id_idx on user_actions (user_id, id desc);
-- Who created a payment. Its other actions can be many.
create index user_actions_created_payment_idx on user_actions (target) where action = 'payment.create';
-- What a user has refunded lately.
create index user_actions_refund_idx on user_actions (user_id, requested_at) where action = 'payment.refund';
-- What a user has created at a merchant, for the counter: a day of it, or the newest.
create index user_actions_creation_idx on user_actions (user_id, merchant_id, requested_at)
  where action = 'payment.create';

create table user_action_outcomes (
  action_id bigint primary key references user_actions,
  outcome text not null check (outcome in ('succeeded', 'rejected', 'indeterminate')),
  detail text,
  finished_at timestamptz(3) not null default clock_timestamp()
);

-- What operators did to a merchant, as its members may see it: without the operator, the note and the parameters. The
-- ids are from the sequence of user_actions, so that one list has both in order.
create table merchant_operator_actions (
  merchant_id uuid not null references merchants,
  id bigint not null default nextval('user_actions_id_seq'),
  action text not null,
  target text not null,
  requested_at timestamptz(3) not null,
  outcome text not null check (outcome in ('succeeded', 'indeterminate')),
  primary key (merchant_id, id)
);

-- Each change of a merchant, its keys, endpoints, bank accounts and members that may have happened; no reading. What is
-- done to a payment stands in its timeline. Only this writes the table, as the owner.
create function show_to_merchants() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  done operator_actions;
  object_id uuid;
begin
  select * into done from operator_actions where id = new.action_id;
  if done.action like '%.show' or done.target !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then return null; end if;
  object_id := done.target;
  insert into merchant_operator_actions (merchant_id, action, target, requested_at, outcome)
  select merchant_id, done.action, done.target, done.requested_at, new.outcome
  from (
    select id from merchants where id = object_id
    union select merchant_id from api_keys where id = object_id
    union select merchant_id from webhook_endpoints where id = object_id
    union select merchant_id from bank_accounts where id = object_id
    union select merchant_id from members where user_id = object_id and removed_at is null
  ) owner (merchant_id);
  return null;
end $$;
create trigger show_to_merchants after insert on operator_action_outcomes for each row
  when (new.outcome <> 'rejected') execute function show_to_merchants();

-- What every owner of a merchant has to see, and a member if it is about the own login. Home shows a notice to each of
-- them until that user closes it. Only triggers write one, so no statement of any role changes access or where money
-- goes silently. What occurs again while the notice is open is counted: many notices would hide the others.
create table merchant_notices (
  id bigint generated always as identity primary key,
  merchant_id uuid not null references merchants,
  kind text not null check (kind in ('security.factor_changed', 'security.recovery_code_used', 'security.wrong_codes',
    'security.login_reset', 'security.member_authorised', 'security.owner_changed', 'security.member_changed',
    'security.key_created', 'security.key_changed', 'security.webhook_changed', 'security.return_url_changed',
    'security.contact_changed', 'security.origins_changed', 'security.logo_changed', 'security.accent_changed',
    'bank_account.pending_inquiry', 'bank_account.pending_approval', 'bank_account.active', 'bank_account.suspended',
    'bank_account.rejected', 'bank_account.withdrawn', 'bank_account.replaced', 'bank_account.disabled',
    'payout.failed', 'payout.returned', 'payout.waiting_for_approval', 'payout.schedule_proposed',
    'payout.schedule_changed', 'payment.other_amount')),
  -- The user, the key, the endpoint, the bank account, the payout or the payment that it is about; the merchant if its
  -- checkout page changed.
  target_id uuid not null,
  -- The credentials of a changed login.
  changed text[] not null default '{}'
    check (changed <@ array['password', 'authenticator_app', 'passkey', 'recovery_codes']),
  count integer not null default 1 check (count > 0), -- how many transactions it stands for
  occurred_at timestamptz(3) not null default now(), -- the newest
  newest_xid xid8 not null default pg_current_xact_id(),
  ended_at timestamptz(3), -- when it occurred again after everybody had closed it: that is another notice
  mailed_at timestamptz(3) -- null: it was not mailed
);
create unique index merchant_notices_open_idx on merchant_notices (merchant_id, kind, target_id)
  where ended_at is null;

-- What a user has seen of a notice. Only `close_notices` writes it.
create table merchant_notice_closings (
  notice_id bigint not null references merchant_notices,
  user_id uuid not null references users,
  count integer not null, -- of the notice at that time: it is open again when its count is greater
  closed_at timestamptz(3) not null,
  primary key (notice_id, user_id)
);

-- Whether a member sees a notice. It is not of the time before the membership.
create function is_shown_to(notice merchant_notices, member members) returns boolean language sql immutable
  return member.merchant_id = notice.merchant_id and member.removed_at is null
    and member.created_at < notice.occurred_at
    and (member.role = 'owner' or member.user_id = notice.target_id and notice.kind in (
      'security.factor_changed', 'security.recovery_code_used', 'security.wrong_codes', 'security.login_reset'));

-- A notice, or one more of an open one. A transaction counts once.
create function write_notice(merchant uuid, about text, target uuid, credentials text[] default '{}') returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  update merchant_notices notice set ended_at = now()
  where merchant_id = merchant and kind = about and target_id = target and ended_at is null
    and occurred_at < now() - interval '1 day' and not exists (
      select from members member
      where member.merchant_id = merchant and is_shown_to(notice, member) and not exists (
        select from merchant_notice_closings closing
        where notice_id = notice.id and closing.user_id = member.user_id and closing.count = notice.count));
  insert into merchant_notices as notice (merchant_id, kind, target_id, changed)
  values (merchant, about, target, credentials)
  on conflict (merchant_id, kind, target_id) where ended_at is null do update set
    count = notice.count + (notice.newest_xid <> excluded.newest_xid)::integer,
    changed = notice.changed || array(
      select credential from unnest(excluded.changed) credential where credential <> all(notice.changed)),
    occurred_at = excluded.occurred_at, newest_xid = excluded.newest_xid, mailed_at = null;
end;

-- Closes notices of a merchant for the user of a session, and for nobody else: the value of its cookie is stored
-- nowhere. `counts` has how much of each the user has seen. Returns how many notices that are.
create function close_notices(session_token text, merchant uuid, notices bigint[], counts integer[]) returns integer
language sql security definer set search_path = public, pg_temp
begin atomic
  with closed as (
    insert into merchant_notice_closings as closing (notice_id, user_id, count, closed_at)
    select notice.id, member.user_id, min(seen.count), now()
    from unnest(notices, counts) seen (id, count)
      join merchant_notices notice
        on notice.id = seen.id and notice.merchant_id = merchant and seen.count between 1 and notice.count
      join sessions session on session.token_sha256 = sha256(convert_to(session_token, 'utf8'))
        and session.stage = 'full' and session.ended_at is null and session.expires_at > now()
      join members member on member.user_id = session.user_id and is_shown_to(notice, member)
    group by notice.id, member.user_id
    on conflict (notice_id, user_id) do update
      set count = greatest(closing.count, excluded.count), closed_at = excluded.closed_at
    returning notice_id
  )
  select count(*)::integer from closed;
end;

-- The dashboard changes no credential silently, whatever its statement is. It adds to its notice, and cannot do so by
-- a statement of its own.
create function notice_changed_factor() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  row_changed constant record := coalesce(new, old);
  changed_id uuid;
  credentials text[];
begin
  if tg_table_name = 'users' then
    changed_id := row_changed.id;
    credentials := array_remove(array[
      case when new.password_hash is distinct from old.password_hash then 'password' end,
      case when new.sealed_totp is distinct from old.sealed_totp then 'authenticator_app' end], null);
  else
    changed_id := row_changed.user_id;
    credentials := array[tg_argv[0]];
  end if;
  perform write_notice(merchant_id, 'security.factor_changed', user_id, credentials)
  from members where user_id = changed_id and removed_at is null;
  return null;
end $$;
create trigger notice after update of password_hash, sealed_totp on users for each row
  when ((new.password_hash, new.sealed_totp) is distinct from (old.password_hash, old.sealed_totp)
    and acts_as_dashboard())
  execute function notice_changed_factor();
create trigger notice after insert or delete on passkeys for each row
  when (acts_as_dashboard()) execute function notice_changed_factor('passkey');
create trigger notice after insert or delete on recovery_codes for each row
  when (acts_as_dashboard()) execute function notice_changed_factor('recovery_codes');

-- A recovery code stands for the second factor.
create function notice_used_code() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(merchant_id, 'security.recovery_code_used', user_id)
  from members where user_id = new.user_id and removed_at is null;
  return null;
end $$;
create trigger notice_of_use after update of used_at on recovery_codes for each row
  when (old.used_at is null and new.used_at is not null) execute function notice_used_code();

create function notice_reset() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(merchant_id, 'security.login_reset', user_id)
  from members where user_id = new.user_id and removed_at is null;
  return null;
end $$;
create trigger notice after insert on sign_in_links for each row
  when (new.kind = 'reset') execute function notice_reset();

-- Wrong codes change no row, so the dashboard counts them.
create function note_wrong_codes(person uuid) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  select write_notice(merchant_id, 'security.wrong_codes', user_id)
  from members where user_id = person and removed_at is null;
end;

-- Neither does it give rights silently, nor does an operator. The first member has nobody who could notice it.
create function notice_changed_member() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  approving constant text[] := array['owner', 'finance']; -- the roles that approve payouts
  before text := case when tg_op = 'UPDATE' and old.removed_at is null then old.role else '' end;
  after text := case when new.removed_at is null then new.role else '' end;
  is_owner_changed constant boolean := (before = 'owner') <> (after = 'owner');
  is_authorised constant boolean := after = any(approving) and before <> all(approving);
begin
  if before = after or not exists (
    select from members where merchant_id = new.merchant_id and user_id <> new.user_id
  ) then return null; end if;
  perform write_notice(new.merchant_id, notice.kind, new.user_id)
  from (values
    ('security.owner_changed', is_owner_changed),
    ('security.member_authorised', is_authorised),
    ('security.member_changed', not is_owner_changed and not is_authorised)
  ) notice (kind, is_due) where notice.is_due;
  return null;
end $$;
create trigger notice after insert or update of role, removed_at on members for each row
  when (acts_as_dashboard() or acts_as_operator()) execute function notice_changed_member();

-- Nor does any role create a key silently, permit it in other networks, or revoke one.
create function notice_key() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(new.merchant_id, tg_argv[0], new.id);
  return null;
end $$;
create trigger notice after insert on api_keys for each row execute function notice_key('security.key_created');
create trigger notice_of_change after update of allowed_networks, revoked_at on api_keys for each row
  when ((new.allowed_networks, new.revoked_at) is distinct from (old.allowed_networks, old.revoked_at))
  execute function notice_key('security.key_changed');

-- Nor does any role point webhooks elsewhere, sign them with a secret of its own, or add customers to them.
create function notice_webhook() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed_id constant uuid := to_jsonb(new) ->> tg_argv[0];
begin
  perform write_notice(merchant_id, 'security.webhook_changed', id) from webhook_endpoints where id = changed_id;
  return null;
end $$;
create trigger notice after insert on webhook_endpoints for each row execute function notice_webhook('id');
create trigger notice_of_change after update of url, expand, status, deleted_at on webhook_endpoints for each row
  when (new.url <> old.url or ('customer' = any(new.expand) and not 'customer' = any(old.expand))
    or (new.status = 'enabled' and old.status <> 'enabled') or (new.deleted_at is null and old.deleted_at is not null))
  execute function notice_webhook('id');
-- A secret that two operators have not approved signs nothing.
create trigger notice after insert on webhook_secrets for each row
  when (new.expires_at is null or new.expires_at > now()) execute function notice_webhook('endpoint_id');
create trigger notice_of_change after update of expires_at on webhook_secrets for each row
  when (coalesce(new.expires_at, 'infinity') > coalesce(old.expires_at, 'infinity'))
  execute function notice_webhook('endpoint_id');

-- Customers trust a page that looks like the shop, and go where it sends them: nobody changes that silently.
create function notice_changed_checkout() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed constant record := coalesce(new, old);
  changed_id uuid;
begin
  if tg_table_name = 'merchants' then
    changed_id := changed.id;
  else
    changed_id := changed.merchant_id;
  end if;
  perform write_notice(changed_id, tg_argv[0], changed_id);
  return null;
end $$;
create trigger notice after insert or update or delete on merchant_logos for each row
  execute function notice_changed_checkout('security.logo_changed');
create trigger notice_of_accent after update of accent on merchants for each row
  when (new.accent is distinct from old.accent) execute function notice_changed_checkout('security.accent_changed');
create trigger notice_of_return after update of return_url on merchants for each row
  when (new.return_url is distinct from old.return_url)
  execute function notice_changed_checkout('security.return_url_changed');
create trigger notice_of_contact after update of contact on merchants for each row
  when (new.contact is distinct from old.contact) execute function notice_changed_checkout('security.contact_changed');
create trigger notice_of_origins after update of checkout_origins on merchants for each row
  when (new.checkout_origins <> old.checkout_origins)
  execute function notice_changed_checkout('security.origins_changed');

-- Nor does an order at the provider have another amount silently: a customer may have paid it.
create function notice_other_amount() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_notice(merchant_id, 'payment.other_amount', id) from payments where id = new.payment_id;
  return null;
end $$;
create trigger notice after insert on exceptions for each row
  when (new.kind = 'wrong_amount') execute function notice_other_amount();

-- Rights --------------------------------------------------------------------------------------------------------------

grant select on user_actions, user_action_outcomes to lunas_dashboard;
grant insert on user_actions, user_action_outcomes to lunas_dashboard;
grant select on merchant_operator_actions to lunas_dashboard;
grant select on merchant_notices, merchant_notice_closings to lunas_dashboard;
revoke execute on function write_notice, close_notices, note_wrong_codes from public;
grant execute on function close_notices, note_wrong_codes to lunas_dashboard;
grant select on user_actions, user_action_outcomes to lunas_operator;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
