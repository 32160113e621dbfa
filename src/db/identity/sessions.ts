import type { MemberRole } from '../../domain/member-roles';
import type { Language, Realm, SessionStage, SignInMethod, TimeZone } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';

/** The browser that a session belongs to. */
export interface Browser {
  readonly address: string;
  readonly userAgent: string;
}

export interface SessionRow {
  readonly id: string;
  readonly stage: Exclude<SessionStage, 'passkey'>;
  readonly method: SignInMethod;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
  readonly steppedUpAt: Date | null;
  readonly userId: string;
  readonly email: string;
  readonly userName: string;
  readonly language: Language;
  readonly membership: MembershipRow | null;
}

/** A merchant that a user is a member of. */
export interface MembershipRow {
  readonly merchantId: string;
  readonly merchantCode: string;
  readonly merchantName: string;
  readonly merchantStatus: 'pending' | 'approved' | 'suspended';
  readonly isOnHold: boolean;
  readonly timeZone: TimeZone;
  readonly role: MemberRole;
  /** Since when the user has this role without a break: epoch milliseconds. */
  readonly roleSinceMs: number;
  /** The last visit of a page of this merchant: epoch milliseconds. Null: none before. */
  readonly lastSeenMs: number | null;
}

interface SessionQuery {
  readonly realm: Realm;
  readonly tokenSha256: Buffer;
  readonly merchantCode: string | null;
  readonly now: Date;
  /** A session that was not seen since then has ended. */
  readonly idleSince: Date;
}

/** The membership as JSON, so that one statement has either the whole membership or none. */
const MEMBERSHIP_JSON = `json_build_object('merchantId', merchant.id, 'merchantCode', merchant.code,
  'merchantName', merchant.name, 'merchantStatus', merchant.status, 'isOnHold', merchant.held_at is not null,
  'timeZone', merchant.time_zone, 'role', member.role,
  'roleSinceMs', (extract(epoch from member.role_since) * 1000)::bigint,
  'lastSeenMs', (extract(epoch from member.last_seen_at) * 1000)::bigint)`;

/** A session with its user, and the user's membership of the merchant with this code. */
export async function findSession(db: Queryable, query: SessionQuery): Promise<SessionRow | undefined> {
  const { rows } = await db.query<SessionRow>({
    name: 'find_session',
    text: `select session.id, session.stage, session.method, session.created_at as "createdAt",
        session.last_seen_at as "lastSeenAt", session.expires_at as "expiresAt",
        session.stepped_up_at as "steppedUpAt", person.id as "userId", person.email, person.name as "userName",
        person.language, case when member.user_id is not null then ${MEMBERSHIP_JSON} end as membership
      from sessions session
      join users person on person.id = session.user_id and person.disabled_at is null
      left join merchants merchant on merchant.code = $3
      left join members member
        on member.merchant_id = merchant.id and member.user_id = person.id and member.removed_at is null
      where session.token_sha256 = $2 and session.realm = $1 and session.ended_at is null
        and session.expires_at > $4 and session.last_seen_at > $5`,
    values: [query.realm, query.tokenSha256, query.merchantCode, query.now, query.idleSince],
  });
  return rows[0];
}

/** Records that the session was used now, unless that was recorded less than a minute ago. */
export async function recordSessionUse(db: Queryable, sessionId: string, now: Date, unlessSince: Date): Promise<void> {
  await db.query({
    name: 'record_session_use',
    text: 'update sessions set last_seen_at = $2 where id = $1 and last_seen_at < $3',
    values: [sessionId, now, unlessSince],
  });
}

/** Ends a session. A session that has ended keeps its timestamp. */
export async function endSessionRow(db: Queryable, sessionId: string, now: Date): Promise<void> {
  await db.query('update sessions set ended_at = $2 where id = $1 and ended_at is null', [sessionId, now]);
}

export interface NewSession {
  readonly id: string;
  readonly realm: Realm;
  /** Null: a passkey will show it. */
  readonly userId: string | null;
  readonly tokenSha256: Buffer;
  readonly stage: SessionStage;
  readonly method: SignInMethod;
  readonly now: Date;
  readonly expiresAt: Date;
  readonly steppedUpAt: Date | null;
  readonly browser: Browser;
  /** The hash that the user's password was compared with; null: something else proved the identity. */
  readonly passwordHash: string | null;
}

/**
 * Opens a session. The lock on the user waits for a change of the password (`lockLogin`), and a change waits for it. So
 * no session that was opened with the old password survives the change.
 * @returns false if the user has another password meanwhile, or is disabled
 */
export async function insertSession(db: Queryable, session: NewSession): Promise<boolean> {
  const { rowCount } = await db.query(
    `with person as materialized (
       select from users where id = $3 and disabled_at is null and ($12::text is null or password_hash = $12) for share
     )
     insert into sessions (id, realm, user_id, token_sha256, stage, method, created_at, last_seen_at, expires_at,
       stepped_up_at, address, user_agent)
     select $1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10, $11
     where $3::uuid is null or exists (select from person)`,
    [
      session.id,
      session.realm,
      session.userId,
      session.tokenSha256,
      session.stage,
      session.method,
      session.now,
      session.expiresAt,
      session.steppedUpAt,
      session.browser.address,
      session.browser.userAgent,
      session.passwordHash,
    ],
  );
  return rowCount === 1;
}

interface SessionRotation {
  readonly sessionId: string;
  /** The stage that it leaves. */
  readonly from: SessionStage;
  readonly tokenSha256: Buffer;
  readonly expiresAt: Date;
  readonly now: Date;
}

/**
 * Makes a session full, with a new token: the old one is of no use any more. The user has just proved their identity.
 * @returns false if the session has ended, or has left that stage
 */
export async function rotateSession(db: Queryable, rotation: SessionRotation): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sessions set token_sha256 = $3, stage = 'full', expires_at = $4, last_seen_at = $5, stepped_up_at = $5
     where id = $1 and stage = $2 and ended_at is null and expires_at > $5`,
    [rotation.sessionId, rotation.from, rotation.tokenSha256, rotation.expiresAt, rotation.now],
  );
  return rowCount === 1;
}

/** A session as its user sees it in the list. */
export interface ListedSession {
  readonly id: string;
  readonly method: SignInMethod;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly address: string;
  readonly userAgent: string;
}

/** The user's sessions that have not ended, the newest first. */
export async function listOpenSessions(
  db: Queryable,
  userId: string,
  { now, idleSince }: { readonly now: Date; readonly idleSince: Date },
): Promise<ListedSession[]> {
  const { rows } = await db.query<ListedSession>(
    `select id, method, created_at as "createdAt", last_seen_at as "lastSeenAt", host(address) as address,
       user_agent as "userAgent"
     from sessions
     where user_id = $1 and ended_at is null and stage = 'full' and expires_at > $2 and last_seen_at > $3
     order by created_at desc, id`,
    [userId, now, idleSince],
  );
  return rows;
}

/** Ends a session of this user. @returns false if it is none of the user's, or has ended */
export async function endSessionOf(db: Queryable, userId: string, sessionId: string, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    'update sessions set ended_at = $3 where id = $2 and user_id = $1 and ended_at is null',
    [userId, sessionId, now],
  );
  return rowCount === 1;
}

/** Ends the user's sessions. @param keptSessionId that of the browser that asks; null: none is kept */
export async function endSessionsOf(
  db: Queryable,
  userId: string,
  keptSessionId: string | null,
  now: Date,
): Promise<void> {
  await db.query(
    'update sessions set ended_at = $3 where user_id = $1 and ended_at is null and id is distinct from $2::uuid',
    [userId, keptSessionId, now],
  );
}
