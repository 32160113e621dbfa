import type { MemberRole } from '../../domain/member-roles';
import type { Language, Realm } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { insertNoticesOfUser } from './merchant-notices';
import type { Browser } from './sessions';

interface NewDevelopmentLink {
  readonly id: string;
  readonly realm: Realm;
  readonly email: string;
  readonly tokenSha256: Buffer;
  readonly createdBy: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** @returns false if this is no sandbox, or it has no active user with this e-mail */
export async function insertDevelopmentLink(db: Queryable, link: NewDevelopmentLink): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into sign_in_links (id, realm, kind, token_sha256, user_id, created_by, created_at, expires_at)
     select $1, realm, 'development', $4, id, $5, $6, $7 from users
     where realm = $2 and email = $3 and disabled_at is null
       and exists (select from installation where environment = 'sandbox')`,
    [link.id, link.realm, link.email, link.tokenSha256, link.createdBy, link.now, link.expiresAt],
  );
  return rowCount === 1;
}

interface DevelopmentSignIn {
  readonly realm: Realm;
  readonly linkSha256: Buffer;
  readonly sessionId: string;
  readonly sessionSha256: Buffer;
  readonly browser: Browser;
  readonly now: Date;
  readonly expiresAt: Date;
}

/**
 * Uses the link and opens its session, in one statement: a link opens one session.
 * @returns the user; undefined if it opens none
 */
export async function signInByDevelopmentLink(db: Queryable, signIn: DevelopmentSignIn): Promise<string | undefined> {
  const { rows } = await db.query<{ userId: string }>(
    `with used as (
       update sign_in_links set used_at = $5
       where token_sha256 = $2 and realm = $1 and kind = 'development' and used_at is null and expires_at > $5
         and exists (select from installation where environment = 'sandbox')
       returning user_id
     )
     insert into sessions (id, realm, user_id, token_sha256, stage, method, created_at, last_seen_at, expires_at,
       address, user_agent)
     select $3, person.realm, person.id, $4, 'full', 'development_link', $5, $5, $6, $7, $8
     from used join users person on person.id = used.user_id and person.disabled_at is null
     returning user_id as "userId"`,
    [
      signIn.realm,
      signIn.linkSha256,
      signIn.sessionId,
      signIn.sessionSha256,
      signIn.now,
      signIn.expiresAt,
      signIn.browser.address,
      signIn.browser.userAgent,
    ],
  );
  return rows[0]?.userId;
}

/** Whether the link was used before. */
export async function isLinkUsed(db: Queryable, realm: Realm, tokenSha256: Buffer): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from sign_in_links where realm = $1 and token_sha256 = $2 and used_at is not null',
    [realm, tokenSha256],
  );
  return rowCount === 1;
}

/** Withdraws the development links that were not used, of all users. */
export async function expireDevelopmentLinks(db: Queryable, now: Date): Promise<void> {
  await db.query(
    "update sign_in_links set expires_at = $1 where kind = 'development' and used_at is null and expires_at > $1",
    [now],
  );
}

interface NewInvitation {
  readonly id: string;
  readonly tokenSha256: Buffer;
  readonly merchantId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly createdBy: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** Whether one operator may invite a person alone: the merchant has no member and no payment. */
export async function mayInviteAlone(db: Queryable, merchantId: string): Promise<boolean> {
  const { rows } = await db.query<{ mayInvite: boolean }>('select may_invite_alone($1) as "mayInvite"', [merchantId]);
  return onlyRow(rows).mayInvite;
}

/**
 * Withdraws earlier invitations of the same e-mail to this merchant, unless the new one waits for an approval.
 * @returns false if it is a member already
 */
export async function insertInvitation(db: Queryable, invitation: NewInvitation): Promise<boolean> {
  const { rowCount } = await db.query(
    `with withdrawn as (
       update sign_in_links set expires_at = least(expires_at, $7)
       where merchant_id = $3 and email = $4 and kind = 'invitation' and used_at is null and id < $1
         and $8::timestamptz > $7::timestamptz
     )
     insert into sign_in_links (id, realm, kind, token_sha256, merchant_id, email, role, created_by, created_at,
       expires_at)
     select $1, 'merchant', 'invitation', $2, $3, $4, $5, $6, $7, $8
     where not exists (
       select from members join users on users.id = members.user_id
       where members.merchant_id = $3 and members.removed_at is null and users.realm = 'merchant' and users.email = $4
     )`,
    [
      invitation.id,
      invitation.tokenSha256,
      invitation.merchantId,
      invitation.email,
      invitation.role,
      invitation.createdBy,
      invitation.now,
      invitation.expiresAt,
    ],
  );
  return rowCount === 1;
}

/**
 * A link of a user needs an owner still: who is removed, disabled or no owner any more leaves no way in behind. One of
 * an operator alone needs a merchant without members still. Of an e-mail only the newest invitation counts, also if
 * several were made at the same time. One that waits for its approval was never valid, and replaces none.
 */
const isPermitted = (ofOperator: string) => `case when link.created_by like 'user:%' then exists (
    select from members issuer join users person on person.id = issuer.user_id and person.disabled_at is null
    where issuer.merchant_id = link.merchant_id and issuer.role = 'owner' and issuer.removed_at is null
      and link.created_by = 'user:' || issuer.user_id)
  else ${ofOperator} end`;
const IS_NEWEST = `not exists (
    select from sign_in_links newer where newer.merchant_id = link.merchant_id and newer.email = link.email
      and newer.kind = 'invitation' and newer.id > link.id and newer.expires_at > newer.created_at)`;
const VALID_INVITATION = (now: string) => `link.kind = 'invitation' and link.used_at is null
  and link.expires_at > ${now} and ${isPermitted('(not needs_two_operators() or is_still_permitted(link))')}
  and ${IS_NEWEST}`;

/** An invitation as its page shows it. */
export interface Invitation {
  readonly email: string;
  readonly role: MemberRole;
  readonly merchantName: string;
  /** The e-mail is that of a user, who signs in and joins. */
  readonly isKnownUser: boolean;
}

/** Undefined if it is unknown, used, withdrawn or expired. It is not used by that. */
export async function findOpenInvitation(
  db: Queryable,
  tokenSha256: Buffer,
  now: Date,
): Promise<Invitation | undefined> {
  const { rows } = await db.query<Invitation>(
    `select link.email, link.role, merchants.name as "merchantName",
       exists (select from users where users.realm = 'merchant' and users.email = link.email) as "isKnownUser"
     from sign_in_links link join merchants on merchants.id = link.merchant_id
     where link.token_sha256 = $1 and ${VALID_INVITATION('$2')}`,
    [tokenSha256, now],
  );
  return rows[0];
}

/** An invitation that waits, in the list of the team. */
export interface OpenInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const MAX_INVITATIONS = 200;

/** The newest first, at most 200. */
export async function listOpenInvitations(db: Queryable, merchantId: string, now: Date): Promise<OpenInvitation[]> {
  const { rows } = await db.query<OpenInvitation>(
    `select id, email, role, created_by as "createdBy", created_at as "createdAt", expires_at as "expiresAt"
     from sign_in_links link where link.merchant_id = $1 and ${VALID_INVITATION('$2')}
     order by created_at desc, id limit ${MAX_INVITATIONS}`,
    [merchantId, now],
  );
  return rows;
}

/** @returns false if the merchant has no such invitation that waits */
export async function expireInvitation(
  db: Queryable,
  { merchantId, id, now }: { readonly merchantId: string; readonly id: string; readonly now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sign_in_links set expires_at = $3
     where merchant_id = $1 and id = $2 and kind = 'invitation' and used_at is null and expires_at > $3`,
    [merchantId, id, now],
  );
  return rowCount === 1;
}

/** A link that waits for its approval, and gets it. */
interface ApprovedLink {
  readonly linkId: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** Makes a link valid that waits for its approval, and withdraws others. @returns false if it was used or replaced */
export async function extendInvitation(db: Queryable, { linkId, now, expiresAt }: ApprovedLink): Promise<boolean> {
  const { rowCount } = await db.query(
    `with approved as (
       update sign_in_links link set expires_at = $3
       where id = $1 and kind = 'invitation' and used_at is null and ${IS_NEWEST}
       returning merchant_id, email
     ),
     withdrawn as (
       update sign_in_links other set expires_at = least(expires_at, $2) from approved
       where other.merchant_id = approved.merchant_id and other.email = approved.email and other.id <> $1
         and other.kind = 'invitation' and other.used_at is null
     )
     select from approved`,
    [linkId, now, expiresAt],
  );
  return rowCount === 1;
}

interface InvitedUser {
  readonly tokenSha256: Buffer;
  readonly userId: string;
  readonly name: string;
  readonly language: Language;
  readonly passwordHash: string;
  readonly now: Date;
}

/** Creates the user and the membership, and uses the invitation, in one statement. @returns false if it is not valid */
export async function insertInvitedUser(db: Queryable, user: InvitedUser): Promise<boolean> {
  const { rowCount } = await db.query(
    `with link as (
       update sign_in_links link set used_at = $6
       where link.token_sha256 = $1 and ${VALID_INVITATION('$6')}
         and not exists (select from users where users.realm = 'merchant' and users.email = link.email)
       returning link.email, link.merchant_id, link.role, link.created_by
     ),
     person as (
       insert into users (id, realm, email, name, language, password_hash, password_changed_at, created_at)
       select $2, 'merchant', email, $3, $4, $5, $6, $6 from link returning id
     ),
     joined as (
       insert into members (merchant_id, user_id, role, invited_by, created_at)
       select merchant_id, person.id, role, created_by, $6 from link, person
       returning user_id
     )
     select from joined`,
    [user.tokenSha256, user.userId, user.name, user.language, user.passwordHash, user.now],
  );
  return rowCount === 1;
}

/**
 * A known user joins; one who was removed before is a new member.
 * @returns the merchant; undefined if the invitation is not valid
 */
export async function joinInvitedUser(
  db: Queryable,
  { tokenSha256, userId, now }: { readonly tokenSha256: Buffer; readonly userId: string; readonly now: Date },
): Promise<string | undefined> {
  const { rows } = await db.query<{ merchantId: string }>(
    `with link as (
       update sign_in_links link set used_at = $3
       where link.token_sha256 = $1 and ${VALID_INVITATION('$3')}
         and link.email = (select users.email from users where users.id = $2)
       returning link.merchant_id, link.role, link.created_by
     ),
     joined as (
       insert into members (merchant_id, user_id, role, invited_by, created_at)
       select merchant_id, $2, role, created_by, $3 from link
       on conflict (merchant_id, user_id) do update
         set role = excluded.role, invited_by = excluded.invited_by, created_at = excluded.created_at,
           removed_at = null
         where members.removed_at is not null
       returning merchant_id
     )
     select merchant_id as "merchantId" from joined`,
    [tokenSha256, userId, now],
  );
  return rows[0]?.merchantId;
}

interface NewResetLink {
  readonly id: string;
  readonly tokenSha256: Buffer;
  readonly userId: string;
  readonly createdBy: string;
  /** The merchant of the owner who resets the login; null: an operator does. */
  readonly merchantId: string | null;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** The user is a member of no other merchant than `merchant`. */
const belongsOnlyTo = (merchant: string, user: string) =>
  `not exists (select from members other where other.user_id = ${user} and other.merchant_id <> ${merchant}
    and other.removed_at is null)`;

/**
 * Withdraws earlier reset links of the user, unless the new one waits for an approval.
 * @returns `unknown` if there is no such active user, or the merchant has no such member. `other_merchants` if the user
 * is a member of other merchants too
 */
export async function insertResetLink(
  db: Queryable,
  link: NewResetLink,
): Promise<'created' | 'other_merchants' | 'unknown'> {
  const { rows } = await db.query<{ isKnown: boolean; isCreated: boolean }>(
    `with person as (
       select id, realm, $7::uuid is null or ${belongsOnlyTo('$7', 'users.id')} as "isResettable" from users
       where id = $3 and realm = 'merchant' and disabled_at is null
         and ($7::uuid is null or exists (select from members
           where members.user_id = users.id and members.merchant_id = $7 and members.removed_at is null))
     ),
     withdrawn as (
       update sign_in_links set expires_at = least(expires_at, $5) from person
       where user_id = person.id and person."isResettable" and kind = 'reset' and used_at is null
         and $6::timestamptz > $5::timestamptz
     ),
     created as (
       insert into sign_in_links (id, realm, kind, token_sha256, user_id, merchant_id, created_by, created_at,
         expires_at)
       select $1, realm, 'reset', $2, id, $7, $4, $5, $6 from person where "isResettable" returning user_id
     ),
     noticed as (${insertNoticesOfUser('security.login_reset', '(select user_id from created)', '$5::timestamptz')})
     select exists (select from person) as "isKnown", exists (select from created) as "isCreated"`,
    [link.id, link.tokenSha256, link.userId, link.createdBy, link.now, link.expiresAt, link.merchantId],
  );
  if (rows[0]?.isCreated) return 'created';
  return rows[0]?.isKnown ? 'other_merchants' : 'unknown';
}

/** Makes a link valid that waits for its approval, and withdraws others. @returns false if it was used */
export async function approveResetLinkRow(db: Queryable, { linkId, now, expiresAt }: ApprovedLink): Promise<boolean> {
  const { rowCount } = await db.query(
    `with approved as (
       update sign_in_links link set expires_at = $3 from users person
       where link.id = $1 and link.kind = 'reset' and link.used_at is null and link.merchant_id is null
         and person.id = link.user_id and person.disabled_at is null
       returning link.user_id
     ),
     withdrawn as (
       update sign_in_links other set expires_at = least(expires_at, $2) from approved
       where other.user_id = approved.user_id and other.id <> $1 and other.kind = 'reset' and other.used_at is null
     )
     select from approved`,
    [linkId, now, expiresAt],
  );
  return rowCount === 1;
}

/** A user who left the merchant, or joined another one since, is not reset by an owner of it. */
const VALID_RESET = (now: string) => `link.kind = 'reset' and link.used_at is null and link.expires_at > ${now}
  and ${isPermitted('true')}
  and (link.merchant_id is null or ${belongsOnlyTo('link.merchant_id', 'link.user_id')} and exists (
    select from members target where target.merchant_id = link.merchant_id and target.user_id = link.user_id
      and target.removed_at is null))`;

/** Whose login the link resets; undefined if it is not valid. It is not used by that. */
export async function findReset(
  db: Queryable,
  tokenSha256: Buffer,
  now: Date,
): Promise<{ readonly userId: string; readonly email: string } | undefined> {
  const { rows } = await db.query<{ userId: string; email: string }>(
    `select person.id as "userId", person.email
     from sign_in_links link join users person on person.id = link.user_id and person.disabled_at is null
     where link.token_sha256 = $1 and ${VALID_RESET('$2')}`,
    [tokenSha256, now],
  );
  return rows[0];
}

/**
 * Uses the link: the user has the new password and no other credential, and is signed in nowhere. One statement. The
 * caller holds `lockLogin`.
 * @returns the user; undefined if the link is not valid
 */
export async function resetCredentials(
  db: Queryable,
  {
    tokenSha256,
    passwordHash,
    now,
  }: { readonly tokenSha256: Buffer; readonly passwordHash: string; readonly now: Date },
): Promise<{ readonly id: string; readonly realm: Realm } | undefined> {
  const { rows } = await db.query<{ id: string; realm: Realm }>(
    `with link as (
       update sign_in_links link set used_at = $3 where link.token_sha256 = $1 and ${VALID_RESET('$3')}
       returning link.user_id
     ),
     ended as (update sessions set ended_at = $3 from link where sessions.user_id = link.user_id and ended_at is null),
     without_passkeys as (delete from passkeys using link where passkeys.user_id = link.user_id),
     without_codes as (delete from recovery_codes using link where recovery_codes.user_id = link.user_id)
     update users set password_hash = $2, password_changed_at = $3, sealed_totp = null, totp_last_step = null
     from link where users.id = link.user_id and users.disabled_at is null
     returning users.id, users.realm`,
    [tokenSha256, passwordHash, now],
  );
  return rows[0];
}
