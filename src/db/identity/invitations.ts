import type { MemberRole } from '../../domain/member-roles';
import type { Language } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';
import { requireRow } from '../connection/require-row';
import { inviterName, type Invited } from './members';
import { isPermitted } from './sign-in-links';

interface NewInvitation {
  readonly id: string;
  readonly tokenSha256: Buffer;
  readonly merchantId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly createdBy: string;
  readonly now: Date;
  readonly expiresAt: Date;
  /** Whether a newer invitation of the same e-mail stays instead: a request may be approved long after it. */
  readonly yieldsToNewer?: boolean;
}

/** A person who is invited to a merchant. */
export interface Invitee {
  readonly merchantId: string;
  readonly email: string;
  readonly isMember: boolean;
  /** Whether one operator may invite alone: the merchant has no member and no payment. */
  readonly mayInviteAlone: boolean;
}

const isMember = (merchant: string, email: string) => `exists (
    select from members join users on users.id = members.user_id
    where members.merchant_id = ${merchant} and members.removed_at is null
      and users.realm = 'merchant' and users.email = ${email})`;

/** For an operator. @throws NotFoundError if there is no such merchant */
export async function findInvitee(db: Queryable, merchantId: string, email: string): Promise<Invitee> {
  const { rows } = await db.query<Invitee>(
    `select id as "merchantId", $2 as email, ${isMember('$1', '$2')} as "isMember",
       may_invite_alone(id) as "mayInviteAlone"
     from merchants where id = $1`,
    [merchantId, email],
  );
  return requireRow(rows, 'merchant', merchantId);
}

/**
 * Withdraws earlier invitations of the same e-mail to this merchant.
 * @returns false if it is a member already, or the invitation yields to a newer one
 */
export async function insertInvitation(db: Queryable, invitation: NewInvitation): Promise<boolean> {
  const { rowCount } = await db.query(
    `with withdrawn as (
       update sign_in_links set expires_at = least(expires_at, $7)
       where merchant_id = $3 and email = $4 and kind = 'invitation' and used_at is null and id < $1
     )
     insert into sign_in_links (id, realm, kind, token_sha256, merchant_id, email, role, created_by, created_at,
       expires_at)
     select $1, 'merchant', 'invitation', $2, $3, $4, $5, $6, $7, $8
     where not ${isMember('$3', '$4')}
       and not ($9 and exists (
         select from sign_in_links newer where newer.merchant_id = $3 and newer.email = $4
           and newer.kind = 'invitation' and newer.id > $1 and newer.expires_at > newer.created_at))`,
    [
      invitation.id,
      invitation.tokenSha256,
      invitation.merchantId,
      invitation.email,
      invitation.role,
      invitation.createdBy,
      invitation.now,
      invitation.expiresAt,
      invitation.yieldsToNewer ?? false,
    ],
  );
  return rowCount === 1;
}

const IS_NEWEST = `not exists (
    select from sign_in_links newer where newer.merchant_id = link.merchant_id and newer.email = link.email
      and newer.kind = 'invitation' and newer.id > link.id and newer.expires_at > newer.created_at)`;
/**
 * One of an operator alone needs a merchant without members still. Of an e-mail only the newest invitation counts, also
 * if several were made at the same time. One that waits for its approval was never valid, and replaces none.
 */
const VALID_INVITATION = (now: string) =>
  openInvitation(now, '(not needs_two_operators() or is_still_permitted(link))');

function openInvitation(now: string, ofOperator: string): string {
  return `link.kind = 'invitation' and link.used_at is null and link.expires_at > ${now}
  and ${isPermitted(ofOperator)} and ${IS_NEWEST}`;
}

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

/** An invitation that waits. */
export interface OpenInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export type TeamInvitation = OpenInvitation & Invited;

const MAX_INVITATIONS = 200;

/** The newest first, at most 200. */
export async function listOpenInvitations(db: Queryable, merchantId: string, now: Date): Promise<TeamInvitation[]> {
  const { rows } = await db.query<TeamInvitation>({
    name: 'list_open_invitations',
    text: `select id, email, role, created_by as "createdBy", created_at as "createdAt", expires_at as "expiresAt",
        ${inviterName('link.merchant_id', 'link.created_by')} as "inviterName"
      from sign_in_links link where link.merchant_id = $1 and ${VALID_INVITATION('$2')}
      order by created_at desc, id limit ${MAX_INVITATIONS}`,
    values: [merchantId, now],
  });
  return rows;
}

/**
 * The open invitations that an operator sees, of one merchant or of all. An operator reads no token, so that one which
 * was for the first member is listed although that member has come.
 */
export async function listInvitationsOf(
  db: Queryable,
  merchantId: string | null,
  now: Date,
): Promise<(OpenInvitation & { readonly merchantId: string })[]> {
  const { rows } = await db.query<OpenInvitation & { readonly merchantId: string }>(
    `select id, merchant_id as "merchantId", email, role, created_by as "createdBy", created_at as "createdAt",
       expires_at as "expiresAt"
     from sign_in_links link where ($1::uuid is null or link.merchant_id = $1) and ${openInvitation('$2', 'true')}
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
