import { z } from 'zod';
import { INVOICE_CSV_COLUMNS, openInvoiceExport } from '../../../services/invoices/invoice-csv';
import { delimiterField, MAX_EXPORT_ROWS } from '../../page/export-csv';
import { memberPage, redirectTo } from '../../page/page-route';
import { BALANCE_TEXTS } from '../balance/balance-texts';
import { exportRecorded, type ExportDependencies } from '../export-recorded';
import { merchantView } from '../merchant-view';
import { findOwnInvoice } from './find-own-invoice';
import { invoiceCsvPath, invoicePath } from './invoice-paths';

/** What an invoice charges, as CSV: a line for each payment and payout. */
export const exportInvoice = memberPage(
  { area: 'balance', level: 'view' },
  {
    method: 'get',
    path: invoiceCsvPath.pattern,
    fields: z.object({ delimiter: delimiterField }),
    async handler(dependencies: ExportDependencies, visit, query) {
      const invoice = await findOwnInvoice(dependencies, visit);
      const { number } = invoice;
      if (!query.ok) return redirectTo(invoicePath.to({ ...merchantView(dependencies, visit), number }));
      const { readRows, missingLine } = openInvoiceExport(dependencies.db, invoice);
      const source = {
        fileName: number,
        columns: INVOICE_CSV_COLUMNS,
        readPage: (_after: object | null, limit: number) => readRows(limit),
        missingLine,
        limitLine: () => BALANCE_TEXTS[visit.language].exportLimit(MAX_EXPORT_ROWS),
      };
      const action = { action: 'invoice.export', target: number } as const;
      return exportRecorded(dependencies, visit, { source, delimiter: query.values.delimiter, action });
    },
  },
);
