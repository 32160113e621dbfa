import { v7 as uuidv7 } from 'uuid';
import { createSignInToken } from '../../src/crypto/sign-in-token';
import type { Queryable } from '../../src/db/connection/pool';
import type { MemberRole } from '../../src/domain/member-roles';
import type { Realm } from '../../src/domain/sign-in';
import { createDevelopmentLink, useDevelopmentLink, type Browser } from '../../src/services/identity/sessions';
import { insertMerchant, type Merchant } from '../../src/services/merchants/merchants';

export const BROWSER: Browser = { address: '203.0.113.7', userAgent: 'Mozilla/5.0 (test)' };

/** An approved merchant. */
export function createShop(db: Queryable, name = 'Toko Baru'): Promise<Merchant> {
  return insertMerchant(db, { name, feePayer: 'merchant', providers: ['gopay'], approve: true });
}

/** A user without a password, who is a member of the merchants. @returns the id of the user */
export async function createMember(
  db: Queryable,
  email: string,
  memberships: readonly (readonly [merchantId: string, role: MemberRole])[] = [],
): Promise<string> {
  const id = uuidv7();
  await insertUser(db, id, 'merchant', email);
  for (const [merchantId, role] of memberships) {
    await db.query(
      `insert into members (merchant_id, user_id, role, invited_by, created_at) values ($1, $2, $3, 'cli:test', now())`,
      [merchantId, id, role],
    );
  }
  return id;
}

/** As if all members had their roles and their credentials for longer than a day. A superuser does it. */
export async function ageMembers(db: Queryable): Promise<void> {
  await db.query(`with aged as (update users set credentials_since = credentials_since - interval '2 days')
    update members
    set role_since = role_since - interval '2 days', first_added_at = first_added_at - interval '2 days'`);
}

/** The login of an operator. */
export async function createOperatorUser(db: Queryable, operatorId: string, email: string): Promise<void> {
  await insertUser(db, operatorId, 'operator', email);
}

async function insertUser(db: Queryable, id: string, realm: Realm, email: string): Promise<void> {
  await db.query("insert into users (id, realm, email, name, language) values ($1, $2, $3, 'Sri Rahayu', 'en')", [
    id,
    realm,
    email,
  ]);
}

/** Signs a user of a sandbox in by a development link. @returns the value of the cookie */
export async function signIn(db: Queryable, email: string, now = new Date(), realm: Realm = 'merchant') {
  const token = await createDevelopmentLink(db, { realm, email, createdBy: 'cli:test' }, now);
  return useDevelopmentLink(db, { realm, token, browser: BROWSER }, now);
}

/** New users of a merchant, each with a session, by one statement. @returns the values of their cookies */
export async function signInMany(db: Queryable, merchantId: string, count: number): Promise<string[]> {
  const tokens = Array.from({ length: count }, () => createSignInToken('session'));
  await db.query(
    `with given as (
       select n, gen_random_uuid() as id, hash from unnest($2::bytea[]) with ordinality as token (hash, n)
     ), person as (
       insert into users (id, realm, email, name, language)
       select id, 'merchant', 'user-' || n || '@shop.test', 'Sri Rahayu', 'id' from given returning id
     ), member as (
       insert into members (merchant_id, user_id, role, invited_by, created_at)
       select $1, id, 'owner', 'cli:test', now() from given
     )
     insert into sessions (id, realm, user_id, token_sha256, stage, method, created_at, last_seen_at, expires_at,
       address, user_agent)
     select gen_random_uuid(), 'merchant', id, hash, 'full', 'development_link', now(), now(), now() + interval '1 day',
       '203.0.113.7', 'test' from given`,
    [merchantId, tokens.map(({ tokenSha256 }) => tokenSha256)],
  );
  // Else the plans are those of empty tables, until PostgreSQL does it by itself: 65 ms for the list of a team.
  await db.query('analyze users, members, sessions');
  return tokens.map(({ token }) => token);
}
