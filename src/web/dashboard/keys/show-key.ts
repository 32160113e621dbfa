import { z } from 'zod';
import { clientAddress } from '../../../http/auth/client-address';
import { allowsAddress } from '../../../services/merchants/merchant-keys';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { findKeyOfPath } from './find-key';
import { DONE_CODES } from './key-fields';
import { renderKeyPage } from './key-page';

/** One key: its rights, its last use, and what can be done with it. */
export const showKeyPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/developers/keys/:key',
    fields: z.object({ done: z.enum(DONE_CODES).optional().catch(undefined) }),
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const shown = await findKeyOfPath(dependencies, visit);
      const done = query.ok ? query.values.done : undefined;
      const address = clientAddress(visit.request);
      const isOutside = done === 'saved' && !allowsAddress(shown.allowedNetworks, address);
      return pageResponse(renderKeyPage({ view, shown, done, outsideAddress: isOutside ? address : null }));
    },
  },
);
