import { clientAddress } from '../../../http/auth/client-address';
import { withUserAudit } from '../../../services/audit/user-audit';
import { endSession } from '../../../services/identity/sessions';
import { NO_FIELDS, publicPage, redirectTo } from '../../page/page-route';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';

/** Signs out, also a browser whose sign-in is not complete, and one whose session has ended meanwhile. */
export const logout = publicPage({
  method: 'post',
  path: SIGN_IN_PATHS.logout,
  fields: NO_FIELDS,
  async handler(dependencies: Pick<DashboardDependencies, 'db' | 'cookie' | 'log'>, visit) {
    const { db, cookie, log } = dependencies;
    const ended = visit.session ?? visit.pending;
    if (ended) {
      const by = { userId: ended.user.id, merchantId: null, address: clientAddress(visit.request), log };
      await withUserAudit(db, by, { action: 'session.sign_out', target: ended.id }, () =>
        endSession(db, ended.id, visit.now),
      );
    }
    return redirectTo(SIGN_IN_PATHS.login, [cookie.clear()]);
  },
});
