import { z } from 'zod';
import { cutPage } from '../../../lib/cut-page';
import { listInvoicesOfMerchant } from '../../../services/invoices/fee-invoices';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { invoicesPath } from './invoice-paths';
import { renderInvoiceList } from './list-page';

const PAGE_SIZE = 50;

/** The sequence of the last invoice of the page before. What is none shows the newest ones. */
const pageSchema = z.object({
  older: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .optional()
    .catch(undefined),
});

/** The fee invoices and credit notes of a merchant. */
export const listInvoicePage = memberPage(
  { area: 'balance', level: 'view' },
  {
    method: 'get',
    path: invoicesPath.pattern,
    fields: pageSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const beforeSequence = (query.ok ? query.values.older : undefined) ?? null;
      const page = { beforeSequence, limit: PAGE_SIZE + 1 };
      const found = await listInvoicesOfMerchant(dependencies.db, visit.member.merchantId, page);
      const { shown, last } = cutPage(found, PAGE_SIZE);
      const older = last && String(last.sequence);
      return pageResponse(renderInvoiceList({ view, invoices: shown, isFirstPage: beforeSequence === null, older }));
    },
  },
);
