import { v7 as uuidv7 } from 'uuid';
import { createSignInToken, hashSignInToken } from '../../crypto/sign-in-token';
import type { Queryable } from '../../db/connection/pool';
import {
  expireDevelopmentLinks,
  insertDevelopmentLink,
  isLinkUsed,
  signInByDevelopmentLink,
} from '../../db/identity/development-links';
import { recordMemberVisit } from '../../db/identity/members';
import {
  endSessionRow,
  findSession,
  listOpenSessions,
  recordSessionUse,
  type Browser,
  type ListedSession,
  type MembershipRow,
  type SessionRow,
} from '../../db/identity/sessions';
import { LAST_SEEN_INTERVAL_MS, SESSION_LIMITS, type Realm, type SessionStage } from '../../domain/sign-in';
import { ConflictError, SignInError } from '../../errors';

/** What the request of a browser has. */
export type { Browser };

/** The merchant of the path, and the user's role in it. */
export type Membership = MembershipRow;

/** A browser that is signed in, or on its way to it (`stage`). */
export interface Session extends Omit<SessionRow, 'userId' | 'email' | 'userName' | 'language'> {
  readonly realm: Realm;
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly language: SessionRow['language'];
  };
}

export interface SessionRequest {
  readonly realm: Realm;
  /** The value of the cookie. */
  readonly token: string;
  /** The code of the path `/m/<code>/…`; null: the page belongs to no merchant. */
  readonly merchantCode: string | null;
}

/** A session was opened, or has a new token. */
export interface OpenedSession {
  readonly sessionId: string;
  readonly stage: SessionStage;
  /** The new value of the cookie. It is stored nowhere else. */
  readonly token: string;
  /** When the session ends at the latest. */
  readonly expiresAt: Date;
}

const MAX_USER_AGENT_CHARACTERS = 300;
/** `lunas up` ends its links when it stops. */
const DEVELOPMENT_LINK_MS = 30 * 86_400_000;

/**
 * The session of a request, in one statement: who the user is, and what the user is for the merchant of the path.
 * Nothing is cached, so an end of the session, a disabled user, a removal and a new role are in force immediately.
 * @returns undefined if the token is unknown, or the session has ended. `membership` is null if there is no such
 * merchant or the user is no member of it: pages respond 404 to both
 */
export async function readSession(
  db: Queryable,
  { realm, token, merchantCode }: SessionRequest,
  now: Date,
): Promise<Session | undefined> {
  const tokenSha256 = hashSignInToken('session', token);
  if (tokenSha256 === undefined) return undefined;
  const idleSince = new Date(now.getTime() - SESSION_LIMITS[realm].idleMs);
  const row = await findSession(db, { realm, tokenSha256, merchantCode, now, idleSince });
  if (row === undefined) return undefined;
  const { userId, email, userName, language, ...session } = row;
  return { ...session, realm, user: { id: userId, email, name: userName, language } };
}

/**
 * Keeps a session from its idle end, and records the visit at the merchant of the path. Call it for each request of the
 * user: it writes each at most once a minute. Polls and streams must not call it, because an open page would never end
 * its session.
 */
export async function extendSession(
  db: Queryable,
  { id, lastSeenAt, user, membership }: Pick<Session, 'id' | 'lastSeenAt' | 'user' | 'membership'>,
  now: Date,
): Promise<void> {
  const unlessSince = new Date(now.getTime() - LAST_SEEN_INTERVAL_MS);
  if (lastSeenAt < unlessSince) await recordSessionUse(db, id, now, unlessSince);
  if (membership === null || (membership.lastSeenMs ?? 0) >= unlessSince.getTime()) return;
  const { merchantId } = membership;
  await recordMemberVisit(db, { merchantId, userId: user.id, now, unlessSince });
}

/**
 * Whether the user proved their identity within this time. A development session needs no proof: by a policy of
 * PostgreSQL, the dashboard of production writes and reads none.
 */
export function isSteppedUp(
  { method, steppedUpAt }: Pick<Session, 'method' | 'steppedUpAt'>,
  maxAgeMs: number,
  now: Date,
): boolean {
  if (method === 'development_link') return true;
  return steppedUpAt !== null && now.getTime() - steppedUpAt.getTime() <= maxAgeMs;
}

/** The user's signed-in browsers, the newest first. */
export function listSessions(db: Queryable, { realm, user }: Session, now: Date): Promise<ListedSession[]> {
  const idleSince = new Date(now.getTime() - SESSION_LIMITS[realm].idleMs);
  return listOpenSessions(db, user.id, { now, idleSince });
}

/** Signs out. Repeatable. */
export async function endSession(db: Queryable, sessionId: string, now: Date): Promise<void> {
  await endSessionRow(db, sessionId, now);
}

export interface DevelopmentLinkRequest {
  readonly realm: Realm;
  readonly email: string;
  /** Who asks for it, for the record. */
  readonly createdBy: string;
}

/**
 * A token for `/start/<token>`: the page signs the user in without a password, once. Only of a sandbox.
 * @throws ConflictError if the database is not one of the sandbox, or there is no such active user
 */
export async function createDevelopmentLink(
  db: Queryable,
  { realm, email, createdBy }: DevelopmentLinkRequest,
  now: Date,
): Promise<string> {
  const { token, tokenSha256 } = createSignInToken('link');
  const expiresAt = new Date(now.getTime() + DEVELOPMENT_LINK_MS);
  const link = { id: uuidv7(), realm, email: email.toLowerCase(), tokenSha256, createdBy, now, expiresAt };
  if (await insertDevelopmentLink(db, link)) return token;
  throw new ConflictError('not_allowed', `A development link needs a sandbox with an active user ${email}.`);
}

/** Ends all development links that were not used: those of a stack that has stopped. */
export async function endDevelopmentLinks(db: Queryable, now: Date): Promise<void> {
  await expireDevelopmentLinks(db, now);
}

/**
 * Signs in by a development link. The caller has to check that the peer is on loopback, and records the sign-in.
 * @returns the session, and its user
 * @throws SignInError `link_used` or `link_invalid`
 */
export async function useDevelopmentLink(
  db: Queryable,
  { realm, token, browser }: { readonly realm: Realm; readonly token: string; readonly browser: Browser },
  now: Date,
): Promise<OpenedSession & { readonly userId: string }> {
  const linkSha256 = hashSignInToken('link', token);
  if (linkSha256 === undefined) throw invalidLink();
  const { token: sessionToken, tokenSha256: sessionSha256 } = createSignInToken('session');
  const [sessionId, expiresAt] = [uuidv7(), new Date(now.getTime() + SESSION_LIMITS[realm].absoluteMs)];
  const signIn = { realm, linkSha256, sessionId, sessionSha256, browser: shortened(browser), now, expiresAt };
  const userId = await signInByDevelopmentLink(db, signIn);
  if (userId !== undefined) return { sessionId, userId, stage: 'full', token: sessionToken, expiresAt };
  if (await isLinkUsed(db, realm, linkSha256)) throw new SignInError('link_used', 'This link was used.');
  throw invalidLink();
}

const invalidLink = () =>
  new SignInError('link_invalid', 'This link is not valid: it is unknown, withdrawn or expired.');

/** The column has a limit, and a browser none. */
export function shortened({ address, userAgent }: Browser): Browser {
  return { address, userAgent: userAgent.slice(0, MAX_USER_AGENT_CHARACTERS) };
}
