-- Up Migration

set local role lunas_owner;

-- Who approves payouts of a merchant ----------------------------------------------------------------------------------

-- Whether a member may approve payouts of a merchant: the role permits it for a day, so that the other owners can
-- notice, and the newest credential is as old. The first member, in its first role, has no other one, and a sandbox has
-- no money. Times that the dashboard writes prove nothing: so `created_at` is not compared.
create function authorises_payouts(merchant uuid, person uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (
    select from members member join users on users.id = member.user_id
    where member.merchant_id = merchant and member.user_id = person and member.removed_at is null
      and member.role in ('owner', 'finance') and users.disabled_at is null
      and (greatest(member.role_since, users.credentials_since) <= now() - interval '24 hours'
        or exists (select from installation where environment = 'sandbox')
        -- Alone, or on its first day; nobody of the merchant has reset its login.
        or (member.role_since = member.first_added_at and coalesce(users.link_shown_to, '') not like 'user:%'
          and not exists (
            select from members other
            where other.merchant_id = merchant and other.user_id <> person
              and (other.first_added_at <= member.first_added_at
                or member.first_added_at <= now() - interval '24 hours'))))
  );
end;

-- Whether two actors of a merchant are two people, as far as it is known. Who saw the link of a login, or invited it to
-- the merchant, may be its user: so no chain of these leads from one to the other, or from both to one person.
create function are_two_people(merchant uuid, one text, other text) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  with recursive behind (start, person) as (
    values (one, one), (other, other)
    union
    select behind.start, shown.link_shown_to
    from behind
    cross join lateral (select case when behind.person like 'user:%' then substr(behind.person, 6)::uuid end) login (id)
    cross join lateral (
      select link_shown_to from users where users.id = login.id
      union all
      select link_shown_to from members where merchant_id = merchant and user_id = login.id
    ) shown
    where shown.link_shown_to is not null
  )
  select one <> other
    and not exists (select from behind a join behind b using (person) where a.start = one and b.start = other);
end;

-- Whether a member may approve what this actor of the merchant requests.
create function is_second_user(merchant uuid, person uuid, requester text) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select 'user:' || person <> requester and authorises_payouts(merchant, person)
    and (exists (select from installation where environment = 'sandbox')
      or are_two_people(merchant, 'user:' || person, requester));
end;

-- Whether anybody of the merchant may approve what this actor requests.
create function has_second_user(merchant uuid, requester text) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (
    select from members where merchant_id = merchant and is_second_user(merchant, user_id, requester)
  );
end;

-- Whether a member has had a role that approves payouts for a day, whatever the age of its credentials is: a reset by
-- another member takes its voice for a day, and is no reason to need none.
create function has_held_authority(member members) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select member.removed_at is null and member.role in ('owner', 'finance')
    and member.role_since <= now() - interval '24 hours'
    and exists (
      select from users
      where id = member.user_id and coalesce(disabled_at, 'infinity') > now() - interval '24 hours'
    );
end;

-- A member who could approve payouts, and whose role another one changes or ends, has a day to notice. Each change of
-- its role within the day begins the day again.
create function keep_lost_authority() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if has_held_authority(old) or authorises_payouts(old.merchant_id, old.user_id)
    or (old.removed_at is null and old.role in ('owner', 'finance')
      and old.authorised_until > now() - interval '24 hours')
  then
    new.authorised_until := now();
  end if;
  return new;
end $$;
create trigger authorised_until before update on members for each row
  when (new.role <> old.role or (old.removed_at is null and new.removed_at is not null))
  execute function keep_lost_authority();

-- Whether another member has had the role for a day, and does not count, or lost the right in the last day. An operator
-- approves then: else one person would take the voice of the other away, and need none.
create function has_uncounted_user(merchant uuid, requester text) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select exists (
    select from members member
    where member.merchant_id = merchant and 'user:' || member.user_id <> requester
      and (member.authorised_until > now() - interval '24 hours' or has_held_authority(member))
  ) and not exists (select from installation where environment = 'sandbox');
end;

-- Who approves what an actor of the merchant requests. `none`: the actor is alone.
create function required_approval(merchant uuid, requester text) returns text
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select case
    when has_second_user(merchant, requester) then 'second_user'
    when has_uncounted_user(merchant, requester) then 'operator'
    else 'none'
  end;
end;

-- Rights --------------------------------------------------------------------------------------------------------------

revoke execute
  on function authorises_payouts, are_two_people, is_second_user, has_second_user, has_held_authority,
  has_uncounted_user, required_approval, keep_lost_authority from public;
grant execute on function required_approval to lunas_payouts, lunas_dashboard;
grant execute on function authorises_payouts, is_second_user to lunas_dashboard;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
