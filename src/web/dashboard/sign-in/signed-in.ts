import { clientAddress } from '../../../http/auth/client-address';
import type { EndpointResponse } from '../../../http/endpoint';
import { createKnownBrowser, KNOWN_BROWSER_MS } from '../../../services/identity/known-browser';
import { endSession, type Browser, type OpenedSession } from '../../../services/identity/sessions';
import { redirectTo, type Visit } from '../../page/page-route';
import { SIGN_IN_PATHS, withReturn } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';

type CookieDependencies = Pick<DashboardDependencies, 'cookie' | 'browserCookie' | 'sealer'>;

export const REALM = 'merchant';

/** The browser of a request, for its session. */
export function browserOf({ request }: Pick<Visit, 'request'>): Browser {
  return { address: clientAddress(request), userAgent: request.get('user-agent') ?? '' };
}

/** The cookie of the session. After a complete sign-in also that of a browser in which the user has signed in. */
export function sessionCookies(
  { cookie, browserCookie, sealer }: CookieDependencies,
  { stage, token, expiresAt }: OpenedSession,
  email: string,
  now: Date,
): string[] {
  const session = cookie.set(token, expiresAt);
  if (stage !== 'full') return [session];
  const known = createKnownBrowser(sealer, { realm: REALM, email: email.trim().toLowerCase() }, now);
  return [session, browserCookie.set(known, new Date(now.getTime() + KNOWN_BROWSER_MS))];
}

/**
 * Goes to the next step of a sign-in, or to the page that the user wanted. The session that the browser had before
 * ends: it may be one of another user.
 */
export async function continueSignIn(
  dependencies: CookieDependencies & Pick<DashboardDependencies, 'db'>,
  visit: Pick<Visit, 'session' | 'pending' | 'now' | 'returnPath'>,
  opened: OpenedSession,
  email: string,
): Promise<EndpointResponse> {
  const { now, returnPath } = visit;
  const before = visit.session ?? visit.pending;
  if (before && before.id !== opened.sessionId) await endSession(dependencies.db, before.id, now);
  return redirectTo(pathAfter(opened.stage, returnPath), sessionCookies(dependencies, opened, email, now));
}

function pathAfter(stage: OpenedSession['stage'], returnPath: string): string {
  switch (stage) {
    case 'full':
      return returnPath;
    case 'enrol':
      return withReturn(SIGN_IN_PATHS.enrol, returnPath);
    case 'password':
    case 'passkey':
      return withReturn(SIGN_IN_PATHS.code, returnPath);
  }
}
