import type { Queryable } from '../../db/connection/pool';
import { endSessionOf, endSessionsOf } from '../../db/identity/sessions';
import { setFirstLanguage, setUserProfile, type UserProfile } from '../../db/identity/user-profile';
import type { Language } from '../../domain/sign-in';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { recordEndedStep, withUserAudit, type UserActionName } from '../audit/user-audit';
import { endSession, useDevelopmentLink, type Browser, type OpenedSession, type Session } from './sessions';

/* What users do with their own login, which belongs to no merchant. The log of user actions has each step. */

/** The browser from which a user acts. */
interface OwnBrowser {
  readonly session: Session;
  readonly address: string;
}

/** Sets the name and the language of the user's pages, or only the language. */
export function setProfile(needs: AuditDependencies, by: OwnBrowser, profile: UserProfile): Promise<void> {
  const { id } = by.session.user;
  return recorded(needs, by, 'profile.set', id, () => setUserProfile(needs.db, id, profile));
}

/** Signs out, also a browser whose sign-in is not complete. */
export function signOut(needs: AuditDependencies, by: OwnBrowser, now: Date): Promise<void> {
  const { id } = by.session;
  return recorded(needs, by, 'session.sign_out', id, () => endSession(needs.db, id, now));
}

/** Signs out another browser of the user. @throws NotFoundError if the user has no such session */
export function signOutOther(needs: AuditDependencies, by: OwnBrowser, sessionId: string, now: Date): Promise<void> {
  return recorded(needs, by, 'session.end', sessionId, async () => {
    const hasEnded = await endSessionOf(needs.db, by.session.user.id, sessionId, now);
    if (!hasEnded) throw new NotFoundError('session', sessionId);
  });
}

/** Signs out all other browsers of the user. */
export function signOutOthers(needs: AuditDependencies, by: OwnBrowser, now: Date): Promise<void> {
  const { id, user } = by.session;
  return recorded(needs, by, 'session.end_others', user.id, () => endSessionsOf(needs.db, user.id, id, now));
}

function recorded(
  { db, log }: AuditDependencies,
  { session, address }: OwnBrowser,
  action: UserActionName,
  target: string,
  work: () => Promise<void>,
): Promise<void> {
  return withUserAudit(db, { userId: session.user.id, merchantId: null, address, log }, { action, target }, work);
}

/**
 * Signs in by the link that `lunas up` printed. The owner of the demo shop has chosen no language: the first page has
 * that of the browser. The caller has to check that the peer is on loopback.
 * @throws SignInError `link_used` or `link_invalid`
 */
export async function signInByDevelopmentLink(
  db: Queryable,
  { token, browser, language }: { readonly token: string; readonly browser: Browser; readonly language: Language },
  now: Date,
): Promise<OpenedSession> {
  const opened = await useDevelopmentLink(db, { realm: 'merchant', token, browser }, now);
  const by = { userId: opened.userId, merchantId: null, address: browser.address };
  await recordEndedStep(db, by, { action: 'session.sign_in', target: opened.sessionId }, null);
  await setFirstLanguage(db, opened, language);
  return opened;
}
