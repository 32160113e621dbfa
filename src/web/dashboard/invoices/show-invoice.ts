import { openInvoiceParties } from '../../../services/invoices/invoice-parties';
import { renderInvoicePdf } from '../../../services/invoices/invoice-pdf';
import { PAGE_HEADERS } from '../../page/headers';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { findOwnInvoice } from './find-own-invoice';
import { renderInvoicePage } from './invoice-page';
import { invoicePath, invoicePdfPath } from './invoice-paths';

const VIEW = { area: 'balance', level: 'view' } as const;

/** A fee invoice or a credit note, as it was issued. */
export const showInvoicePage = memberPage(VIEW, {
  method: 'get',
  path: invoicePath.pattern,
  fields: NO_FIELDS,
  async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit) {
    const invoice = await findOwnInvoice(dependencies, visit);
    return pageResponse(renderInvoicePage({ view: merchantView(dependencies, visit), invoice }));
  },
});

/** The invoice in PDF, in the language of the user. Only it has the parties. */
export const getInvoicePdf = memberPage(VIEW, {
  method: 'get',
  path: invoicePdfPath.pattern,
  fields: NO_FIELDS,
  async handler(dependencies: Pick<DashboardDependencies, 'db' | 'sealer'>, visit) {
    const invoice = await findOwnInvoice(dependencies, visit);
    const parties = await openInvoiceParties(dependencies, invoice);
    const headers = {
      ...PAGE_HEADERS,
      'Content-Type': 'application/pdf',
      'Content-Disposition': `attachment; filename="${invoice.number}.pdf"`,
    };
    const body = await renderInvoicePdf({ invoice, parties, language: visit.language });
    return { status: 200, headers, body };
  },
});
