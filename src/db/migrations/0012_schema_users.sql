-- Up Migration

set local role lunas_owner;

-- Users ---------------------------------------------------------------------------------------------------------------

-- A person with a login. Realm `merchant`: a member of merchants. Realm `operator`: staff, whose login is a second
-- credential of one row of `operators`, so that two credentials of one operator never count as two operators.
create table users (
  id uuid primary key,
  realm text not null check (realm in ('merchant', 'operator')),
  email text not null check (email = lower(email) and email like '%_@_%' and length(email) <= 254),
  name text not null check (name <> '' and length(name) <= 100),
  language text not null default 'id' check (language in ('id', 'en')),
  password_hash text, -- argon2id, with its parameters. Null: none was set yet
  sealed_totp text, -- the secret of the authenticator app. Null: none
  totp_hmac text, -- of the same secret, as that of a bank account: no other one is compared with a code
  totp_last_step bigint, -- of the newest code that was accepted: no code is accepted twice, and no older one
  password_changed_at timestamptz(3),
  -- Triggers set these two, and no process can: when the user got the newest credential, and who saw the link by which
  -- the user got the login or its reset. Null: no other person saw it, or two operators confirmed who has the login.
  credentials_since timestamptz(3) not null,
  link_shown_to text,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  operator_id uuid generated always as (case when realm = 'operator' then id end) stored references operators (id),
  constraint users_totp_has_hash check ((sealed_totp is null) = (totp_hmac is null)),
  unique (realm, email),
  unique (id, realm)
);
-- Only an enrolment, which writes the hash too, replaces the secret.
create trigger totp_is_enrolled before update of sealed_totp on users for each row
  when (new.totp_hmac = old.totp_hmac and not is_resealed(old.sealed_totp, new.sealed_totp))
  execute function forbid_mutation();

-- The realm is that of merchants, so that no operator's login becomes a member by a mistake in a statement.
create table members (
  merchant_id uuid not null references merchants,
  user_id uuid not null,
  realm text not null default 'merchant' check (realm = 'merchant'),
  role text not null check (role in ('owner', 'finance', 'developer', 'support', 'cashier', 'viewer')),
  invited_by text not null, -- who: `user:<id>`, or as in the audit log of operators
  created_at timestamptz(3) not null, -- of the membership: a member who was removed and joins again is a new one
  -- Triggers set these three, and no process can: when it got this role, when it was added for the first time, and
  -- when it last lost the right to approve payouts.
  role_since timestamptz(3) not null,
  first_added_at timestamptz(3) not null,
  authorised_until timestamptz(3),
  -- A trigger sets it: who created the invitation by which the user joined. Null: none, or two operators confirmed who
  -- has the login.
  link_shown_to text,
  removed_at timestamptz(3),
  last_seen_at timestamptz(3), -- on a page of this merchant; null: never. At most one write a minute
  primary key (merchant_id, user_id),
  foreign key (user_id, realm) references users (id, realm)
);
create index members_user_id_idx on members (user_id);

create function set_role_since() returns trigger language plpgsql as $$
begin
  new.role_since := now();
  if tg_op = 'INSERT' then
    new.first_added_at := now();
    new.authorised_until := null;
  end if;
  return new;
end $$;
create trigger role_since_of_new before insert on members for each row execute function set_role_since();
create trigger role_since_of_changed before update on members for each row
  when (new.role <> old.role or (old.removed_at is not null and new.removed_at is null))
  execute function set_role_since();

create table passkeys (
  id uuid primary key,
  user_id uuid not null,
  realm text not null,
  credential_id text not null unique, -- base64url, as WebAuthn has it in JSON
  public_key bytea not null,
  counter bigint not null check (counter >= 0),
  transports text[] not null default '{}',
  rp_id text not null, -- the host name of the pages: another host cannot use the passkey
  name text not null check (name <> '' and length(name) <= 100),
  is_backed_up boolean not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  foreign key (user_id, realm) references users (id, realm)
);
create index passkeys_user_id_idx on passkeys (user_id);

create table recovery_codes (
  user_id uuid not null,
  realm text not null,
  code_sha256 bytea not null check (octet_length(code_sha256) = 32),
  used_at timestamptz(3),
  primary key (user_id, code_sha256),
  foreign key (user_id, realm) references users (id, realm)
);

-- A browser that signs in or is signed in. Its token is replaced at each change of the stage and at each step-up.
create table sessions (
  id uuid primary key,
  realm text not null check (realm in ('merchant', 'operator')),
  user_id uuid, -- null: the passkey has not shown yet whose session it becomes
  token_sha256 bytea not null unique check (octet_length(token_sha256) = 32),
  stage text not null check (stage in ('passkey', 'password', 'enrol', 'full')),
  method text not null check (method in ('password', 'passkey', 'development_link')),
  challenge text, -- of WebAuthn, used once
  challenge_expires_at timestamptz(3),
  created_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null, -- at most one write a minute
  expires_at timestamptz(3) not null,
  stepped_up_at timestamptz(3),
  ended_at timestamptz(3),
  address inet not null,
  user_agent text not null check (length(user_agent) <= 300),
  foreign key (user_id, realm) references users (id, realm),
  constraint sessions_user_unless_passkey check ((user_id is null) = (stage = 'passkey')),
  constraint sessions_challenge_expires check ((challenge is null) = (challenge_expires_at is null))
);
create index sessions_user_id_idx on sessions (user_id) where ended_at is null;
create index sessions_retention_idx on sessions (expires_at, id);

-- Links that sign a browser in once: an invitation, the reset of a login, and the link of `lunas up` on a sandbox.
create table sign_in_links (
  id uuid primary key,
  realm text not null check (realm in ('merchant', 'operator')),
  kind text not null check (kind in ('invitation', 'reset', 'development')),
  token_sha256 bytea not null unique check (octet_length(token_sha256) = 32),
  user_id uuid, -- of a reset or a development link
  email text, -- of an invitation, which is bound to it
  merchant_id uuid references merchants,
  role text check (role in ('owner', 'finance', 'developer', 'support', 'cashier', 'viewer')),
  created_by text not null, -- as `members.invited_by`
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null, -- a link that is withdrawn expires at that time
  used_at timestamptz(3),
  foreign key (user_id, realm) references users (id, realm),
  constraint sign_in_links_user_unless_invitation check ((kind = 'invitation') = (user_id is null)),
  constraint sign_in_links_invitation check (
    kind = 'invitation' and realm = 'merchant' and email is not null and merchant_id is not null and role is not null
    or kind <> 'invitation' and email is null and role is null
  )
);
create index sign_in_links_merchant_id_idx on sign_in_links (merchant_id);
create index sign_in_links_retention_idx on sign_in_links (expires_at, id);

-- The link of a login was shown to who created it, because it is not mailed. The dashboard makes a login for a used
-- invitation only.
create function set_origin_of_login() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  new.credentials_since := now();
  select created_by into new.link_shown_to from sign_in_links
    where kind = 'invitation' and email = new.email and used_at is not null order by id desc limit 1;
  if not found and acts_as_dashboard() then
    raise exception 'user % was not invited', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create function set_origin_of_reset() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update users set credentials_since = now(), link_shown_to = new.created_by where id = new.user_id;
  return null;
end $$;
-- Who joins with a login of another merchant may be the person who invited it. The dashboard makes a member for a used
-- invitation only.
create function set_origin_of_member() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  select link.created_by into new.link_shown_to from sign_in_links link join users on users.email = link.email
    where users.id = new.user_id and link.kind = 'invitation' and link.merchant_id = new.merchant_id
      and link.used_at is not null
    order by link.id desc limit 1;
  if not found and acts_as_dashboard() then
    raise exception 'user % was not invited to merchant %', new.user_id, new.merchant_id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger origin_of_login before insert on users for each row execute function set_origin_of_login();
create trigger origin_of_new before insert on members for each row execute function set_origin_of_member();
create trigger origin_of_rejoined before update on members for each row
  when (old.removed_at is not null and new.removed_at is null) execute function set_origin_of_member();
create trigger origin_of_reset after update of used_at on sign_in_links for each row
  when (new.kind = 'reset' and old.used_at is null and new.used_at is not null) execute function set_origin_of_reset();

-- Each new credential counts from now on. The hash of a secret that `lunas keys reseal` seals again is the same.
create function set_credentials_since() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_table_name = 'users' then
    new.credentials_since := now();
  else
    update users set credentials_since = now() where id = new.user_id;
  end if;
  return new;
end $$;
create trigger credentials_since before update of password_hash, totp_hmac on users for each row
  when (new.password_hash is distinct from old.password_hash
    or (new.totp_hmac is not null and new.totp_hmac is distinct from old.totp_hmac))
  execute function set_credentials_since();
create trigger credentials_since after insert on passkeys for each row execute function set_credentials_since();
create trigger credentials_since after insert on recovery_codes for each row execute function set_credentials_since();

-- The dashboard sees no operator's login, whatever its statement is. The policies follow the database role, so they
-- leave nothing in a session, and a pooler does not matter. They do not bind the owner, as which views and functions
-- with `security definer` run: none of these shows a row of a user.
do $$
declare
  person text;
begin
  foreach person in array '{users, passkeys, recovery_codes, sessions, sign_in_links}'::text[] loop
    execute format('alter table %I enable row level security', person);
    execute format($policy$create policy every_realm on %I to lunas_operator, lunas_worker using (true)$policy$,
      person);
  end loop;
  foreach person in array '{users, passkeys, recovery_codes, sessions}'::text[] loop
    execute format($policy$create policy merchant_realm on %I to lunas_dashboard using (realm = 'merchant')$policy$,
      person);
  end loop;
end $$;
-- A development link signs in without a password: the dashboard uses one and never makes one.
create policy merchant_realm on sign_in_links to lunas_dashboard
  using (realm = 'merchant') with check (realm = 'merchant' and (kind <> 'development' or used_at is not null));
-- Only a member shows a link there, and so sees it. Commands of a local stack have a login with every role.
create policy shown_by_members on sign_in_links as restrictive for insert to lunas_dashboard
  with check (not acts_as_dashboard() or created_by like 'user:%');
-- Its session needs no step-up, so the dashboard of production writes none, and finds none that another role wrote.
create policy development_in_sandbox on sessions as restrictive to lunas_dashboard
  using (method <> 'development_link' or exists (select from installation where environment = 'sandbox'));

-- What has ended or was used stays so, whatever the statement is. The dashboard extends no link.
create trigger end_is_final before update of ended_at on sessions for each row
  when (old.ended_at is not null and new.ended_at is distinct from old.ended_at) execute function forbid_mutation();
create trigger use_is_final before update of used_at on sign_in_links for each row
  when (old.used_at is not null and new.used_at is distinct from old.used_at) execute function forbid_mutation();
create trigger use_is_final before update of used_at on recovery_codes for each row
  when (old.used_at is not null and new.used_at is distinct from old.used_at) execute function forbid_mutation();
create trigger expiry_is_final before update of expires_at on sign_in_links for each row
  when (new.expires_at > old.expires_at and acts_as_dashboard()) execute function forbid_mutation();

-- Whether one operator may invite a person alone: the merchant has no member, and nothing that a member could take.
create function may_invite_alone(merchant uuid) returns boolean language sql stable
  return not exists (select from members where merchant_id = merchant and removed_at is null)
    and not exists (select from payments where merchant_id = merchant)
    and not exists (select from balance_transactions where merchant_id = merchant);

-- Whether two operators decided this link, with this token, for this person and role.
create function approves_link(approval approvals, link sign_in_links) returns boolean language sql stable
  return approval.decided_by <> approval.requested_by and approval.parameters ->> 'linkId' = link.id::text
    and approval.parameters ->> 'tokenSha256' = encode(link.token_sha256, 'hex')
    and case link.kind
      when 'reset' then approval.action = 'user.reset' and approval.parameters ->> 'user' = link.user_id::text
      when 'invitation' then approval.action = 'user.invite' and approval.parameters @> jsonb_build_object(
        'merchant', link.merchant_id, 'email', link.email, 'role', link.role)
      else false
    end;

-- In production no operator makes a link valid alone, nor in the name of a user. The first member of a merchant is the
-- exception. A link without an approval has expired. The limits are those of the commands, whatever the statement is.
create function require_approved_link() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not needs_two_operators() or acts_as_dashboard() then return new; end if;
  if new.created_by like 'user:%' or not (
    exists (
      select from approvals where approves_link(approvals, new) and is_in_execution(approvals, approvals.action)
    ) or new.kind = 'invitation' and may_invite_alone(new.merchant_id)
  ) then
    raise exception 'link % is not approved by two operators', new.id using errcode = 'restrict_violation';
  end if;
  new.expires_at := least(new.expires_at,
    clock_timestamp() + case new.kind when 'reset' then interval '1 hour' else interval '72 hours' end);
  return new;
end $$;
create trigger two_operators_add before insert on sign_in_links for each row
  when (new.expires_at > now()) execute function require_approved_link();
create trigger two_operators_extend before update of expires_at on sign_in_links for each row
  when (new.expires_at > old.expires_at) execute function require_approved_link();

-- An invitation that one operator made alone is only for the first member: it ends when another one has joined. It is
-- asked only about the link of an operator, and where two have to decide.
create function is_still_permitted(invitation sign_in_links) returns boolean
language sql stable security definer set search_path = public, pg_temp
  return not exists (select from members where merchant_id = invitation.merchant_id and removed_at is null)
    or exists (
      select from approvals where status in ('approved', 'executed') and approves_link(approvals, invitation)
    );
create function require_still_permitted() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- Of two who join at the same time, one waits, and is not the first.
  perform from merchants where id = new.merchant_id for no key update;
  if new.created_by not like 'user:%' and needs_two_operators() and not is_still_permitted(new) then
    raise exception 'invitation % was for the first member', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger still_permitted before update of used_at on sign_in_links for each row
  when (new.kind = 'invitation' and old.used_at is null and new.used_at is not null)
  execute function require_still_permitted();

-- In production no operator alone makes a key of a merchant that has members, or changes where its webhooks go or what
-- signs them. Members do that in the dashboard; before the first one, an operator sets the merchant up.
create function needs_two_for_members(merchant uuid) returns boolean language sql stable
  return needs_two_operators() and not acts_as_dashboard()
    and exists (select from members where merchant_id = merchant and removed_at is null);

create function require_approved_api_key() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_for_members(new.merchant_id) and not exists (
    select from approvals
    where is_in_execution(approvals, 'key.create') and parameters ->> 'merchant' = new.merchant_id::text
      and parameters #>> '{passedOn,secretSha256}' = encode(new.secret_sha256, 'hex')
      and parameters -> 'scopes' is not distinct from to_jsonb(new.scopes)
      and nullif(new.allowed_networks, '{}') is not distinct from (
        select array_agg(distinct network(address::inet))
        from jsonb_array_elements_text(parameters -> 'allowedNetworks') address
      )
      and parameters ->> 'name' is not distinct from new.name
      and (parameters ->> 'expiresAt')::timestamptz(3) is not distinct from new.expires_at
  ) then
    raise exception 'key % is not approved by two operators', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on api_keys for each row execute function require_approved_api_key();

-- Whether an endpoint has what was requested, in any order. What a request leaves out stays as before.
create function is_as_requested(requested jsonb, before text[], after text[]) returns boolean language sql stable
  return case
    when requested is null then before is not distinct from after
    else requested @> to_jsonb(coalesce(after, '{}')) and requested <@ to_jsonb(coalesce(after, '{}'))
  end;

-- The request names the id of a new endpoint, so that it makes one.
create function require_approved_endpoint() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_for_members(new.merchant_id) and not exists (
    select from approvals
    where is_in_execution(approvals, case tg_op when 'INSERT' then 'webhook.create' else 'webhook.set' end)
      and new.url = coalesce(parameters ->> 'url', old.url)
      and is_as_requested(parameters -> 'events', old.events, new.events)
      and is_as_requested(parameters -> 'expand', coalesce(old.expand, '{}'), new.expand)
      and case tg_op
        when 'INSERT' then parameters ->> 'merchant' = new.merchant_id::text and parameters ->> 'id' = new.id::text
        else parameters ->> 'endpoint' = new.id::text and old.deleted_at is null
      end
  ) then
    raise exception 'endpoint % is not approved by two operators', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on webhook_endpoints for each row
  execute function require_approved_endpoint();
create trigger two_operators_change before update of url, events, expand, deleted_at on webhook_endpoints for each row
  when ((new.url, new.events, new.expand) is distinct from (old.url, old.events, old.expand)
    or old.deleted_at is not null and new.deleted_at is null)
  execute function require_approved_endpoint();

-- Who has seen a secret can sign what a shop believes. The first secret comes with its endpoint.
create function require_approved_secret() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  merchant constant uuid := (select merchant_id from webhook_endpoints where id = new.endpoint_id);
begin
  if needs_two_for_members(merchant) and not exists (
    select from approvals
    where is_in_execution(approvals, 'webhook.rotate_secret') and parameters ->> 'endpoint' = new.endpoint_id::text
        and parameters ->> 'secretId' = new.id::text
      or is_in_execution(approvals, 'webhook.create') and parameters ->> 'id' = new.endpoint_id::text
        and not exists (select from webhook_secrets where endpoint_id = new.endpoint_id and id <> new.id)
  ) then
    raise exception 'secret % is not approved by two operators', new.id using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger two_operators after insert on webhook_secrets for each row
  when (new.expires_at is null or new.expires_at > now()) execute function require_approved_secret();
create trigger two_operators_accept after update of expires_at on webhook_secrets for each row
  when (coalesce(new.expires_at, 'infinity') > coalesce(old.expires_at, 'infinity'))
  execute function require_approved_secret();

-- Two operators have spoken to the person: nobody else has the login. The approval is of these credentials, and of the
-- memberships of that time.
create function confirm_user(person uuid, since timestamptz) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  has_confirmed boolean;
begin
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'user.confirm') and parameters ->> 'user' = person::text
      and expected_version = (extract(epoch from since) * 1000)::bigint
  ) then
    raise exception 'no two operators have confirmed user %', person using errcode = 'restrict_violation';
  end if;
  perform from users
    where id = person and since = greatest(credentials_since,
      (select max(role_since) from members where user_id = person and link_shown_to is not null))
    for no key update;
  if not found then return false; end if;
  update members set link_shown_to = null
    where user_id = person and link_shown_to is not null and role_since <= since;
  has_confirmed := found;
  update users set link_shown_to = null where id = person and link_shown_to is not null;
  return has_confirmed or found;
end $$;

-- Operators make only the demo owner of a sandbox a member.
create function require_sandbox() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if is_production() then
    raise exception 'in production a member joins by an invitation' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger by_invitation before insert on members for each row
  when (acts_as_operator()) execute function require_sandbox();

-- Rights --------------------------------------------------------------------------------------------------------------

-- The dashboard signs users in; operators invite the first owner, reset and disable; the worker deletes what is
-- expired.
grant select on users, members, passkeys, recovery_codes, sessions, sign_in_links to lunas_dashboard;
grant insert (id, realm, email, name, language, password_hash, password_changed_at, created_at) on users
  to lunas_dashboard;
grant update (name, language, password_hash, password_changed_at, sealed_totp, totp_hmac, totp_last_step) on users
  to lunas_dashboard;
grant insert, update (role, invited_by, created_at, removed_at, last_seen_at) on members to lunas_dashboard;
grant insert, delete, update (counter, name, is_backed_up, last_used_at) on passkeys to lunas_dashboard;
grant insert, delete, update (used_at) on recovery_codes to lunas_dashboard;
grant insert, update (user_id, token_sha256, stage, method, challenge, challenge_expires_at, last_seen_at, expires_at,
  stepped_up_at, ended_at) on sessions to lunas_dashboard;
grant insert, update (expires_at, used_at) on sign_in_links to lunas_dashboard;
grant select (id, realm, email, name, language, sealed_totp, password_changed_at, credentials_since, link_shown_to,
  disabled_at, created_at) on users to lunas_operator; -- `lunas keys reseal` reads the sealed column
grant insert (id, realm, email, name, language, created_at), update (disabled_at, sealed_totp) on users
  to lunas_operator;
grant insert on members to lunas_operator; -- the demo owner of `lunas up`
grant select on members to lunas_operator;
grant select (id, user_id, realm, rp_id) on passkeys to lunas_operator;
grant select (id, realm, user_id, stage, method, created_at, last_seen_at, expires_at, ended_at), update (ended_at)
  on sessions to lunas_operator;
grant select (id, realm, kind, user_id, email, merchant_id, role, created_by, created_at, expires_at, used_at), insert,
  update (expires_at) on sign_in_links to lunas_operator;
grant select (id, realm, email, language) on users to lunas_worker;
grant select (id, expires_at), delete on sessions, sign_in_links to lunas_worker;
grant select on members to lunas_reader;
revoke execute on function require_approved_api_key, require_approved_endpoint, require_approved_secret,
  require_approved_link, is_still_permitted, require_still_permitted from public;
grant execute on function is_still_permitted to lunas_dashboard;
revoke execute on function confirm_user from public;
grant execute on function confirm_user to lunas_operator;
revoke execute on function set_origin_of_login, set_origin_of_member, set_origin_of_reset, set_credentials_since
  from public;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
