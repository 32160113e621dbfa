import { SignInError } from '../../../errors';
import { canonicalAddress, clientAddress } from '../../../http/auth/client-address';
import { signInByDevelopmentLink } from '../../../services/identity/own-login';
import { PageError } from '../../page/page-error';
import { NO_FIELDS, publicPage, redirectTo } from '../../page/page-route';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { startPath } from './session-paths';

/**
 * Signs in by the link that `lunas up` printed. It is the only GET that acts, so it is registered only for a sandbox on
 * loopback, and it serves only a browser on the same machine that no proxy forwards.
 */
export const startDevelopmentSession = publicPage({
  method: 'get',
  path: startPath.pattern,
  fields: NO_FIELDS,
  async handler({ db, cookie }: Pick<DashboardDependencies, 'db' | 'cookie'>, { request, now, language }) {
    const isForwarded = request.get('x-forwarded-for') !== undefined;
    const isLocal = isLoopbackAddress(request.socket.remoteAddress ?? '') && !isForwarded;
    if (!isLocal || request.method !== 'GET') throw new PageError('not_found', 'a development link from elsewhere');
    const browser = { address: clientAddress(request), userAgent: request.get('user-agent') ?? '' };
    const link = { token: startPath.read(request.params).token, browser, language };
    const opened = await signInByDevelopmentLink(db, link, now).catch((error: unknown) => {
      if (!(error instanceof SignInError)) throw error;
      throw new PageError(error.reason === 'link_used' ? 'link_used' : 'link_invalid');
    });
    return redirectTo(SIGN_IN_PATHS.home, [cookie.set(opened.token, opened.expiresAt)]);
  },
});

/** Whether an IP address is one of this machine's own interface. */
export function isLoopbackAddress(address: string): boolean {
  const canonical = canonicalAddress(address);
  return canonical === '::1' || canonical.startsWith('127.');
}
