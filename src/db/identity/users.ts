import type { Language, Realm } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';

/** What signing in compares. */
export interface UserCredentials {
  readonly id: string;
  readonly realm: Realm;
  readonly email: string;
  readonly name: string;
  readonly language: Language;
  readonly passwordHash: string | null;
  /** Null: none was set yet. */
  readonly passwordChangedAt: Date | null;
  readonly sealedTotp: string | null;
  /** Null as the secret. */
  readonly totpHmac: string | null;
  readonly hasPasskey: boolean;
}

const CREDENTIALS = `person.id, person.realm, person.email, person.name, person.language,
  person.password_hash as "passwordHash", person.password_changed_at as "passwordChangedAt",
  person.sealed_totp as "sealedTotp", person.totp_hmac as "totpHmac",
  exists (select from passkeys where passkeys.user_id = person.id) as "hasPasskey"`;

/**
 * The name of the user that a column names as the actor `user:<id>`; null for any other actor.
 * @returns a subquery
 */
export function userNameSql(actorColumn: string): string {
  const userId = `case when ${actorColumn} like 'user:%' then substr(${actorColumn}, 6)::uuid end`;
  return `(select users.name from users where users.id = ${userId})`;
}

/** Undefined if there is no such user, or it is disabled. */
export async function findUserByEmail(
  db: Queryable,
  realm: Realm,
  email: string,
): Promise<UserCredentials | undefined> {
  const { rows } = await db.query<UserCredentials>({
    name: 'find_user_by_email',
    text: `select ${CREDENTIALS} from users person
      where person.realm = $1 and person.email = $2 and person.disabled_at is null`,
    values: [realm, email],
  });
  return rows[0];
}

/** Finds an enabled user by the id, with credentials. */
export async function findUser(db: Queryable, userId: string): Promise<UserCredentials | undefined> {
  const { rows } = await db.query<UserCredentials>(
    `select ${CREDENTIALS} from users person where person.id = $1 and person.disabled_at is null`,
    [userId],
  );
  return rows[0];
}

interface NewTotp {
  readonly sealedTotp: string;
  readonly totpHmac: string;
  readonly lastStep: number;
  /** Whether it replaces a second factor that the user has. */
  readonly replaces: boolean;
}

/**
 * Stores the secret of the authenticator app. The caller holds `lockLogin`.
 * @returns false if the user has a second factor that it must not replace
 */
export async function storeTotp(
  db: Queryable,
  userId: string,
  { sealedTotp, totpHmac, lastStep, replaces }: NewTotp,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update users set sealed_totp = $2, totp_hmac = $3, totp_last_step = $4
     where id = $1 and ($5::boolean
       or (sealed_totp is null and not exists (select from passkeys where passkeys.user_id = users.id)))`,
    [userId, sealedTotp, totpHmac, lastStep, replaces],
  );
  return rowCount === 1;
}

/** Uses the step of a code for good. @returns false if it or a later one was used, or the secret was replaced */
export async function takeTotpStep(
  db: Queryable,
  { userId, sealedTotp, step }: { readonly userId: string; readonly sealedTotp: string; readonly step: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update users set totp_last_step = $3
     where id = $1 and sealed_totp = $2 and (totp_last_step is null or totp_last_step < $3)`,
    [userId, sealedTotp, step],
  );
  return rowCount === 1;
}

/**
 * Sets a new password, ends the user's other sessions, and withdraws the links that would reset it. The caller holds
 * `lockLogin`.
 */
export async function storePassword(
  db: Queryable,
  {
    userId,
    passwordHash,
    keptSessionId,
    now,
  }: {
    readonly userId: string;
    readonly passwordHash: string;
    readonly keptSessionId: string | null;
    readonly now: Date;
  },
): Promise<void> {
  await db.query(
    `with ended as (
       update sessions set ended_at = $4 where user_id = $1 and ended_at is null and id is distinct from $3::uuid
     ),
     withdrawn as (
       update sign_in_links set expires_at = least(expires_at, $4)
       where user_id = $1 and kind = 'reset' and used_at is null
     )
     update users set password_hash = $2, password_changed_at = $4 where id = $1`,
    [userId, passwordHash, keptSessionId, now],
  );
}

/** Disables a user, or keeps the timestamp of before, and ends the user's sessions. */
export async function disableUserRow(db: Queryable, userId: string, now: Date): Promise<void> {
  await db.query(
    `with ended as (update sessions set ended_at = $2 where user_id = $1 and ended_at is null)
     update users set disabled_at = coalesce(disabled_at, $2) where id = $1`,
    [userId, now],
  );
}

/** A login, and who saw its links. */
export interface LinkedUser {
  readonly userId: string;
  readonly email: string;
  /** When the user got the newest credential, or a role by the invitation of a person who counts. */
  readonly linkedSince: Date;
  /**
   * Who created the link of the login, of its last reset, or of an invitation by which it joined a merchant, and so saw
   * it. Empty: none counts.
   */
  readonly linksShownTo: readonly string[];
}

/** Undefined if there is no such active user of merchants. */
export async function findLinkedUser(db: Queryable, userId: string): Promise<LinkedUser | undefined> {
  const { rows } = await db.query<LinkedUser>(
    `with joined as (
       select role_since, link_shown_to from members where user_id = $1 and link_shown_to is not null
     )
     select id as "userId", email,
       greatest(credentials_since, (select max(role_since) from joined)) as "linkedSince",
       array(
         select users.link_shown_to where users.link_shown_to is not null union select link_shown_to from joined
         order by 1
       ) as "linksShownTo"
     from users where id = $1 and realm = 'merchant' and disabled_at is null`,
    [userId],
  );
  return rows[0];
}

/**
 * Only the user has the login, with these credentials and memberships.
 * @returns false if they changed, or it is confirmed already
 */
export async function confirmUserRow(
  db: Queryable,
  { userId, linkedSince }: Pick<LinkedUser, 'userId' | 'linkedSince'>,
): Promise<boolean> {
  const { rows } = await db.query<{ isConfirmed: boolean }>('select confirm_user($1, $2) as "isConfirmed"', [
    userId,
    linkedSince,
  ]);
  return onlyRow(rows).isConfirmed;
}
