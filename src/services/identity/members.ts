import { v7 as uuidv7 } from 'uuid';
import { hashSignInToken } from '../../crypto/sign-in-token';
import type { Queryable } from '../../db/connection/pool';
import { inTransaction } from '../../db/connection/transaction';
import {
  findOpenInvitation,
  insertInvitedUser,
  joinInvitedUser,
  listOpenInvitations,
  type Invitation,
  type TeamInvitation,
} from '../../db/identity/invitations';
import { listMemberships } from '../../db/identity/list-memberships';
import { lockLogin } from '../../db/identity/login-lock';
import { listMemberRows, listTeamPage, type Member, type TeamPosition } from '../../db/identity/members';
import { findReset, resetCredentials, type ResettableUser } from '../../db/identity/reset-links';
import type { Language } from '../../domain/sign-in';
import { SignInError } from '../../errors';
import { cutPage } from '../../lib/cut-page';
import { recordEndedStep, withUserAudit } from '../audit/user-audit';
import type { Browser, OpenedSession, Session } from './sessions';
import { hashNewPassword, openSession, withLockedLogin, type IdentityDependencies } from './sign-in';

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
  const { shown, last } = cutPage(found, TEAM_PAGE_SIZE);
  return { members: shown, next: last };
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

function hashLink(token: string): Buffer {
  const tokenSha256 = hashSignInToken('link', token);
  if (tokenSha256 === undefined) throw invalidLink();
  return tokenSha256;
}

const invalidLink = () =>
  new SignInError('link_invalid', 'This link is not valid: it was used or withdrawn, or expired.');
