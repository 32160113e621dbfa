import { z } from 'zod';
import { encodeCursor } from '../../../db/payments/cursor';
import type { PageStart } from '../../../db/payments/list-payment-page';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { delimiterField, MAX_EXPORT_ROWS, type CsvExport } from '../../page/export-csv';
import { memberPage, redirectTo } from '../../page/page-route';
import { formatExactTime } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { exportRecorded, type ExportDependencies } from '../export-recorded';
import { merchantView, type MerchantView } from '../merchant-view';
import { findFiltered, type FilteredPayments } from './find-page';
import { listFilterSchema } from './list-filter';
import { exportPaymentsPath, paymentsPath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';

const exportSchema = z.intersection(listFilterSchema, z.object({ delimiter: delimiterField }));

/** The payments of the list as CSV, with the same filter. */
export const exportPayments = memberPage(
  { area: 'turnover', level: 'view' },
  {
    method: 'get',
    path: exportPaymentsPath.pattern,
    fields: exportSchema,
    async handler(dependencies: ExportDependencies, visit, query) {
      const view = merchantView(dependencies, visit);
      // The list names the fields that are not possible.
      if (!query.ok) return redirectTo(paymentsPath.to(view, query.sent));
      const { merchantId, timeZone } = visit.member;
      const source = sourceOf(dependencies.db, view, { merchantId, filter: query.values, zone: timeZone });
      const { delimiter } = query.values;
      const action = { action: 'payments.export', target: merchantId, detail: JSON.stringify(query.sent) } as const;
      return exportRecorded(dependencies, visit, { source, delimiter, action });
    },
  },
);

function sourceOf(
  db: DashboardDependencies['db'],
  { locale, nowMs }: MerchantView,
  filtered: FilteredPayments,
): CsvExport<PaymentRow> {
  const at = (date: Date | null) => date && formatExactTime(date, locale.zone);
  return {
    fileName: `payments-${formatExactTime(new Date(nowMs), locale.zone).slice(0, 10)}`,
    // The names of the contract (docs/contract.md).
    columns: {
      reference_id: ({ referenceId }) => referenceId,
      id: ({ id }) => id,
      merchant_reference_id: ({ merchantReferenceId }) => merchantReferenceId,
      status: ({ status }) => status,
      provider: ({ provider }) => provider,
      currency: ({ currency }) => currency,
      amount: ({ amountRupiah }) => amountRupiah,
      fee_amount: ({ feeRupiah }) => feeRupiah,
      total_amount: ({ totalRupiah }) => totalRupiah,
      net_amount: ({ netRupiah }) => netRupiah,
      created_at: ({ createdAt }) => at(createdAt),
      expires_at: ({ expiresAt }) => at(expiresAt),
      paid_at: ({ paidAt }) => at(paidAt),
      cancelled_at: ({ cancelledAt }) => at(cancelledAt),
      updated_at: ({ updatedAt }) => at(updatedAt),
    },
    async readPage(after, limit, closed) {
      let start: PageStart | null = after ? { direction: 'older', than: after } : (filtered.filter.older ?? null);
      for (;;) {
        const { payments, searchedTo } = await findFiltered(db, filtered, start, limit);
        if (payments.length > 0 || searchedTo === null || closed.aborted) return payments;
        start = { direction: 'older', than: searchedTo };
      }
    },
    limitLine: (last) => PAYMENT_TEXTS[locale.language].exportLimit(MAX_EXPORT_ROWS, encodeCursor(last)),
  };
}
