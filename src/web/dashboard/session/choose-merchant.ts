import { listMemberships } from '../../../db/identity/list-memberships';
import { NO_FIELDS, redirectTo, userPage } from '../../page/page-route';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { homePath, pageResponse } from '../merchant-view';
import { renderMessagePage } from '../message-page';
import { DASHBOARD_TEXTS } from '../texts/texts';

/** The merchants of the user. The only one opens by itself. */
export const chooseMerchant = userPage({
  method: 'get',
  path: SIGN_IN_PATHS.home,
  fields: NO_FIELDS,
  async handler({ db }: Pick<DashboardDependencies, 'db'>, { session, language }) {
    const texts = DASHBOARD_TEXTS[language];
    const memberships = await listMemberships(db, session.user.id);
    const [only, ...others] = memberships;
    if (only && others.length === 0) return redirectTo(homePath.to(only));
    const links = memberships.map(({ code, name, role }) => ({
      href: homePath.to({ code }),
      label: `${name} (${texts.roles[role]})`,
    }));
    const lines = links.length === 0 ? [texts.noMerchant] : [];
    return pageResponse(renderMessagePage({ language, title: texts.chooseMerchant, lines, links }));
  },
});
