import { findMerchantRequests, listReferences } from '../../../db/merchants/list-merchant-requests';
import { PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { renderRequestPage } from './request-page';
import { requestPath } from './request-paths';
import { shownRequest } from './shown-request';

/** One request, with links to its payments. */
export const showRequestPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: requestPath.pattern,
    fields: NO_FIELDS,
    async handler({ db, environment }: Pick<DashboardDependencies, 'db' | 'environment'>, visit) {
      const view = merchantView({ environment }, visit);
      const { merchantId } = visit.member;
      const { request: requestId } = requestPath.read(visit.request.params);
      const rows = await findMerchantRequests(db, merchantId, requestId);
      const [newest, ...earlier] = rows.map(shownRequest);
      if (!newest) throw new PageError('not_found', 'the merchant has no such recorded request');
      const references = await listReferences(db, merchantId, newest.paymentIds);
      return pageResponse(renderRequestPage({ view, request: newest, references, earlier }));
    },
  },
);
