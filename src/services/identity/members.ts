import { v7 as uuidv7 } from 'uuid';
import { createSignInToken, hashSignInToken } from '../../crypto/sign-in-token';
import type { Queryable } from '../../db/connection/pool';
import { inTransaction } from '../../db/connection/transaction';
import {
  extendInvitation,
  findOpenInvitation,
  insertInvitation,
  insertInvitedUser,
  joinInvitedUser,
  listOpenInvitations,
  type Invitation,
  type TeamInvitation,
} from '../../db/identity/invitations';
import { listMemberships } from '../../db/identity/list-memberships';
import { lockLogin } from '../../db/identity/login-lock';
import { listMemberRows, listTeamPage, type Member, type TeamPosition } from '../../db/identity/members';
import {
  approveResetLinkRow,
  findReset,
  insertResetLink,
  resetCredentials,
  type ResettableUser,
} from '../../db/identity/reset-links';
import { confirmUserRow, disableUserRow, findLinkedUser, type LinkedUser } from '../../db/identity/users';
import { DeclaredAction } from '../../domain/declared-action';
import type { MemberRole } from '../../domain/member-roles';
import type { Language } from '../../domain/sign-in';
import { ConflictError, NotFoundError, SignInError } from '../../errors';
import { recordEndedStep, withUserAudit } from '../audit/user-audit';
import type { Browser, OpenedSession, Session } from './sessions';
import { hashNewPassword, openSession, withLockedLogin, type IdentityDependencies } from './sign-in';

const HOUR_MS = 3_600_000;
const INVITATION_MS = 72 * HOUR_MS;
const RESET_MS = HOUR_MS;

/** A link that is passed on once: the database has only the hash of its token. */
export interface NewLink {
  readonly id: string;
  readonly token: string;
  readonly expiresAt: Date;
}

export interface InvitationRequest {
  readonly merchantId: string;
  readonly email: string;
  readonly role: MemberRole;
  /** `user:<id>`, or the operator. */
  readonly createdBy: string;
  /** False: the link is not valid until a second operator approves it. Absent: true. */
  readonly isApproved?: boolean;
}

export const INVITE_USER = new DeclaredAction('user.invite');

/**
 * Invites a person for 72 hours. An earlier invitation of the same e-mail ends when this one is valid.
 * @throws ConflictError if the e-mail is that of a member
 */
export async function inviteMember(db: Queryable, request: InvitationRequest, now: Date): Promise<NewLink> {
  const { token, tokenSha256 } = createSignInToken('link');
  const email = request.email.trim().toLowerCase();
  const { isApproved = true, ...invitation } = request;
  const link = { id: uuidv7(), expiresAt: isApproved ? new Date(now.getTime() + INVITATION_MS) : expired(now) };
  const isInvited = await insertInvitation(db, { ...invitation, ...link, email, tokenSha256, now });
  if (!isInvited) throw new ConflictError('not_allowed', `${email} is a member of this merchant already.`);
  return { ...link, token };
}

/**
 * A second operator approves a link: it is valid for 72 hours from now, and replaces earlier ones.
 * @throws ConflictError if it was used, or a newer invitation was valid
 */
export async function approveInvitation(db: Queryable, linkId: string, now: Date): Promise<void> {
  if (await extendInvitation(db, { linkId, now, expiresAt: new Date(now.getTime() + INVITATION_MS) })) return;
  throw new ConflictError('not_allowed', 'This link was used, or a newer invitation has replaced it.');
}

/** The end of a link that waits for an approval, in the past for a database whose clock is slow too. */
const expired = (now: Date) => new Date(now.getTime() - HOUR_MS);

/** What the page of an invitation shows. @throws SignInError `link_invalid` */
export async function readInvitation(db: Queryable, token: string, now: Date): Promise<Invitation> {
  const invitation = await findOpenInvitation(db, hashLink(token), now);
  if (!invitation) throw invalidLink();
  return invitation;
}

/** The invitations of a merchant that wait. */
export function listInvitations(db: Queryable, merchantId: string, now: Date): Promise<TeamInvitation[]> {
  return listOpenInvitations(db, merchantId, now);
}

export interface AcceptedInvitation {
  readonly token: string;
  readonly name: string;
  readonly language: Language;
  readonly password: string;
  readonly browser: Browser;
}

/**
 * Creates the login of a person who has none, with the membership, and signs in. In production a second factor follows.
 * @throws SignInError `link_invalid`, also if the e-mail has a login: then the user signs in and joins; `throttled`
 * @throws InvalidError `password`
 */
export async function acceptInvitation(
  dependencies: IdentityDependencies,
  { token, name, language, password, browser }: AcceptedInvitation,
  now: Date,
): Promise<OpenedSession> {
  const { db, hasher, throttle, environment, log } = dependencies;
  await throttle.countToken(browser.address);
  const { email, merchantName, isKnownUser } = await readInvitation(db, token, now);
  if (isKnownUser) throw invalidLink();
  const passwordHash = await hashNewPassword(hasher, password, { email, names: [name, merchantName] });
  const userId = uuidv7();
  const user = { tokenSha256: hashLink(token), userId, name, language, passwordHash, now };
  if (!(await insertInvitedUser(db, user))) throw invalidLink();
  const by = { userId, merchantId: null, address: browser.address, log };
  await recordEndedStep(db, by, { action: 'member.join', target: userId }, null);
  const stage = environment === 'production' ? 'enrol' : 'full';
  return openSession(
    dependencies,
    { id: userId, realm: 'merchant' },
    { stage, method: 'password', passwordHash, browser },
    now,
  );
}

/**
 * A signed-in user joins the merchant of an invitation to their e-mail.
 * @returns the id of the merchant
 * @throws SignInError `link_invalid`, also if it is for another e-mail; `session_ended`
 */
export async function joinMerchant(
  dependencies: IdentityDependencies,
  session: Session,
  { token, address }: { readonly token: string; readonly address: string },
  now: Date,
): Promise<string> {
  const { db, throttle, log } = dependencies;
  const { stage, user } = session;
  if (stage !== 'full') throw new SignInError('session_ended', 'The sign-in is not complete.');
  await throttle.countToken(address);
  const by = { userId: user.id, merchantId: null, address, log };
  return withUserAudit(db, by, { action: 'member.join', target: user.id }, () =>
    withLockedLogin(dependencies, session, now, async (client) => {
      const merchantId = await joinInvitedUser(client, { tokenSha256: hashLink(token), userId: user.id, now });
      if (merchantId === undefined) throw invalidLink();
      return merchantId;
    }),
  );
}

/** The members of a merchant; of all merchants if it is null. */
export function listMembers(db: Queryable, merchantId: string | null): Promise<Member[]> {
  return listMemberRows(db, merchantId);
}

const TEAM_PAGE_SIZE = 50;

/** @param after null: from the oldest member on @returns the next page begins behind `next`, if there is one */
export async function listTeam(
  db: Queryable,
  merchantId: string,
  after: TeamPosition | null,
): Promise<{ readonly members: readonly Member[]; readonly next: TeamPosition | null }> {
  // One more than the page shows: if it exists, there is a next page.
  const found = await listTeamPage(db, merchantId, after, TEAM_PAGE_SIZE + 1);
  const members = found.slice(0, TEAM_PAGE_SIZE);
  return { members, next: found.length > TEAM_PAGE_SIZE ? (members.at(-1) ?? null) : null };
}

export const RESET_USER = new DeclaredAction('user.reset');

export interface ResetRequest {
  readonly userId: string;
  /** `user:<id>` of an owner, or the operator. */
  readonly createdBy: string;
  /** The merchant of the owner; null: Lunas resets the login. */
  readonly merchantId: string | null;
  /** False: the link is not valid until a second operator approves it. Absent: true. */
  readonly isApproved?: boolean;
}

/**
 * A link for one hour, by which the user sets a new password. It replaces every credential of the user. The owner who
 * passes the link on could use it, and would then be the user at every merchant. So an owner resets only a user whose
 * only merchant is the owner's: there the owner could give themselves the same rights. Lunas resets all others.
 * @throws ConflictError if the user asks for it alone, or is a member of other merchants too
 * @throws NotFoundError if there is no such active user, or no such member of the merchant
 */
export async function createResetLink(
  db: Queryable,
  { userId, createdBy, merchantId, isApproved = true }: ResetRequest,
  now: Date,
): Promise<NewLink> {
  if (createdBy === `user:${userId}`) {
    throw new ConflictError('not_allowed', 'Another owner resets a login: the own one is changed in the profile.');
  }
  const { token, tokenSha256 } = createSignInToken('link');
  const link = { id: uuidv7(), expiresAt: isApproved ? new Date(now.getTime() + RESET_MS) : expired(now) };
  const result = await insertResetLink(db, { ...link, tokenSha256, userId, createdBy, merchantId, now });
  if (result === 'unknown') throw new NotFoundError('user', userId);
  if (result === 'created') return { ...link, token };
  throw new ConflictError('not_allowed', 'This user is a member of other merchants too: Lunas resets the login.');
}

/** A second operator approves a link: it is valid for an hour from now. @throws ConflictError if it was used */
export async function approveResetLink(db: Queryable, linkId: string, now: Date): Promise<void> {
  const expiresAt = new Date(now.getTime() + RESET_MS);
  if (await approveResetLinkRow(db, { linkId, now, expiresAt })) return;
  throw new ConflictError('not_allowed', 'This link was used, or its user is disabled.');
}

/** Whose login a link resets. It is not used by that. @throws SignInError `link_invalid` */
export async function readReset(db: Queryable, token: string, now: Date): Promise<ResettableUser> {
  const reset = await findReset(db, hashLink(token), now);
  if (!reset) throw invalidLink();
  return reset;
}

/**
 * Replaces the user's credentials by a new password, ends all sessions, and signs in.
 * @throws SignInError `link_invalid` or `throttled` @throws InvalidError `password`
 */
export async function resetLogin(
  dependencies: IdentityDependencies,
  { token, password, browser }: { readonly token: string; readonly password: string; readonly browser: Browser },
  now: Date,
): Promise<OpenedSession> {
  const { db, hasher, throttle, environment, log } = dependencies;
  await throttle.countToken(browser.address);
  const tokenSha256 = hashLink(token);
  const { userId, email, name } = await readReset(db, token, now);
  const merchants = await listMemberships(db, userId);
  const owner = { email, names: [name, ...merchants.map((merchant) => merchant.name)] };
  const passwordHash = await hashNewPassword(hasher, password, owner);
  const user = await inTransaction(db, async (client) => {
    await lockLogin(client, userId);
    return resetCredentials(client, { tokenSha256, passwordHash, now });
  });
  if (!user) throw invalidLink();
  const by = { userId: user.id, merchantId: null, address: browser.address, log };
  await recordEndedStep(db, by, { action: 'security.reset', target: user.id }, null);
  const stage = environment === 'production' ? 'enrol' : 'full';
  return openSession(dependencies, user, { stage, method: 'password', passwordHash, browser }, now);
}

export const DISABLE_USER = new DeclaredAction('user.disable');

/** The user cannot sign in any more, and is signed out. Memberships stay. @throws NotFoundError if there is none */
export async function disableUser(db: Queryable, userId: string, now: Date): Promise<void> {
  if (!(await disableUserRow(db, userId, now))) throw new NotFoundError('user', userId);
}

export const CONFIRM_USER = new DeclaredAction('user.confirm');

/**
 * A user whose link another person has seen.
 * @throws ConflictError if no other person saw it, or the user is confirmed already
 * @throws NotFoundError if there is no such active user
 */
export async function findUnconfirmedUser(
  db: Queryable,
  userId: string,
): Promise<LinkedUser & { linkShownTo: string }> {
  const user = await findLinkedUser(db, userId);
  if (!user) throw new NotFoundError('user', userId);
  const { linkShownTo } = user;
  if (linkShownTo !== null) return { ...user, linkShownTo };
  throw new ConflictError('not_allowed', 'Only this user has seen the link of the login: nothing to confirm.');
}

/**
 * Operators have spoken to the person: only the user has the login, although another person saw its link. Then the user
 * counts as a second person for payouts.
 * @throws ConflictError `superseded` if the user has other credentials since, or is confirmed already
 */
export async function confirmUser(
  db: Queryable,
  { userId, credentialsSince }: Pick<LinkedUser, 'userId' | 'credentialsSince'>,
): Promise<void> {
  if (await confirmUserRow(db, { userId, credentialsSince })) return;
  throw new ConflictError('superseded', 'This user has other credentials since then: speak to the person again.');
}

function hashLink(token: string): Buffer {
  const tokenSha256 = hashSignInToken('link', token);
  if (tokenSha256 === undefined) throw invalidLink();
  return tokenSha256;
}

const invalidLink = () =>
  new SignInError('link_invalid', 'This link is not valid: it was used or withdrawn, or expired.');
