import { z } from 'zod';
import { listNewestPayments } from '../../../db/links/list-newest-payments';
import { requireLink } from '../../../services/links/close-link';
import { orNoPage } from '../../page/page-error';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { renderShownLink } from './link-page';
import { linkPath } from './link-paths';

const NEWEST_PAYMENTS = 20;
const DONE_CODES = ['created', 'closed'] as const;

/** One link: its address, what can be done with it, and its newest payments. */
export const showLinkPage = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: linkPath.pattern,
    fields: z.object({ done: z.enum(DONE_CODES).optional().catch(undefined) }),
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'linkAddresses'>, visit, query) {
      const { db, linkAddresses } = dependencies;
      const view = merchantView(dependencies, visit);
      const { merchantId } = visit.member;
      const link = await requireLink(db, { merchantId }, linkPath.read(visit.request.params).link).catch(orNoPage);
      const payments = await listNewestPayments(db, link.id, NEWEST_PAYMENTS);
      const done = query.ok ? query.values.done : undefined;
      // Others can send the address: the link decides.
      const isTrue = done === 'created' || link.closedAt !== null;
      const page = { view, link, payments, url: await linkAddresses.urlOf(link), done: isTrue ? done : undefined };
      return pageResponse(renderShownLink(page));
    },
  },
);
