import { listOwnKeys } from '../../../services/merchants/merchant-keys';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { renderKeyListPage } from './key-list-page';

/** The keys of a merchant, without their secrets. */
export const listKeyPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/developers/keys',
    fields: NO_FIELDS,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit) {
      const view = merchantView(dependencies, visit);
      const keys = await listOwnKeys(dependencies.db, visit.member.merchantId);
      return pageResponse(renderKeyListPage({ view, keys }));
    },
  },
);
