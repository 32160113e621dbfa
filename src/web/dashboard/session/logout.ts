import { endSession } from '../../../services/identity/sessions';
import { NO_FIELDS, redirectTo, userPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';

export const logout = userPage({
  method: 'post',
  path: '/logout',
  fields: NO_FIELDS,
  async handler({ db, cookie }: Pick<DashboardDependencies, 'db' | 'cookie'>, { session, now }) {
    await endSession(db, session.id, now);
    return redirectTo('/', { 'Set-Cookie': cookie.clear() });
  },
});
