import type { Realm } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';
import { isPermitted } from './sign-in-links';

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
 * Withdraws earlier reset links of the user.
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
     ),
     created as (
       insert into sign_in_links (id, realm, kind, token_sha256, user_id, merchant_id, created_by, created_at,
         expires_at)
       select $1, realm, 'reset', $2, id, $7, $4, $5, $6 from person where "isResettable" returning id
     )
     select exists (select from person) as "isKnown", exists (select from created) as "isCreated"`,
    [link.id, link.tokenSha256, link.userId, link.createdBy, link.now, link.expiresAt, link.merchantId],
  );
  if (rows[0]?.isCreated) return 'created';
  return rows[0]?.isKnown ? 'other_merchants' : 'unknown';
}

/** A user who left the merchant, or joined another one since, is not reset by an owner of it. */
const VALID_RESET = (now: string) => `link.kind = 'reset' and link.used_at is null and link.expires_at > ${now}
  and ${isPermitted('true')}
  and (link.merchant_id is null or ${belongsOnlyTo('link.merchant_id', 'link.user_id')} and exists (
    select from members target where target.merchant_id = link.merchant_id and target.user_id = link.user_id
      and target.removed_at is null))`;

/** Whose login a link resets. */
export interface ResettableUser {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
}

/** Undefined if it is not valid. It is not used by that. */
export async function findReset(db: Queryable, tokenSha256: Buffer, now: Date): Promise<ResettableUser | undefined> {
  const { rows } = await db.query<ResettableUser>(
    `select person.id as "userId", person.email, person.name
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
     update users set password_hash = $2, password_changed_at = $3, sealed_totp = null, totp_hmac = null,
       totp_last_step = null
     from link where users.id = link.user_id and users.disabled_at is null
     returning users.id, users.realm`,
    [tokenSha256, passwordHash, now],
  );
  return rows[0];
}
