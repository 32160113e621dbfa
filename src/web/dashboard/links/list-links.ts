import { z } from 'zod';
import { listLinks } from '../../../db/links/list-links';
import { decodeCursor, encodeCursor } from '../../../db/payments/cursor';
import { LINK_STATUSES } from '../../../domain/payment-link';
import { cutPage } from '../../../lib/cut-page';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { linksPath } from './link-paths';
import { renderLinkList } from './list-page';

const PAGE_SIZE = 50;

const filterSchema = z.object({
  status: z.enum(LINK_STATUSES, { error: 'status' }).optional(),
  older: z
    .string()
    .transform((text, context) => {
      const position = decodeCursor(text);
      if (position) return position;
      context.addIssue('cursor');
      return z.NEVER;
    })
    .optional(),
});

/** The payment links of a merchant. */
export const listLinkPage = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: linksPath.pattern,
    fields: filterSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { merchantId } = visit.member;
      const filter = query.ok && { merchantId, status: query.values.status, after: query.values.older, at: visit.now };
      const found = filter ? await listLinks(dependencies.db, filter, PAGE_SIZE + 1) : [];
      const { shown: links, last } = cutPage(found, PAGE_SIZE);
      const next = last && encodeCursor(last);
      const html = renderLinkList({ view, sent: query.sent, isInvalid: !query.ok, links, next });
      return pageResponse(html, query.ok ? 200 : 422);
    },
  },
);
