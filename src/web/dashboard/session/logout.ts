import { endSession } from '../../../services/identity/sessions';
import { NO_FIELDS, publicPage, redirectTo } from '../../page/page-route';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';

/** Signs out, also a browser whose sign-in is not complete, and one whose session has ended meanwhile. */
export const logout = publicPage({
  method: 'post',
  path: '/logout',
  fields: NO_FIELDS,
  async handler({ db, cookie }: Pick<DashboardDependencies, 'db' | 'cookie'>, { session, pending, now }) {
    const ended = session ?? pending;
    if (ended) await endSession(db, ended.id, now);
    return redirectTo(SIGN_IN_PATHS.login, { 'Set-Cookie': cookie.clear() });
  },
});
