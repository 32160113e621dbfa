import { clientAddress } from '../../../http/auth/client-address';
import { signOut } from '../../../services/identity/own-login';
import { NO_FIELDS, publicPage, redirectTo } from '../../page/page-route';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';

/** Signs out, also a browser whose sign-in is not complete, and one whose session has ended meanwhile. */
export const logout = publicPage({
  method: 'post',
  path: SIGN_IN_PATHS.logout,
  fields: NO_FIELDS,
  async handler(dependencies: Pick<DashboardDependencies, 'db' | 'cookie' | 'log'>, visit) {
    const session = visit.session ?? visit.pending;
    if (session) await signOut(dependencies, { session, address: clientAddress(visit.request) }, visit.now);
    return redirectTo(SIGN_IN_PATHS.login, [dependencies.cookie.clear()]);
  },
});
