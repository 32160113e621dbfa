import type { Realm } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';
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
