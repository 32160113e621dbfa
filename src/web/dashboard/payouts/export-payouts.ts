import { z } from 'zod';
import type { Payout } from '../../../db/payouts/list-payouts';
import type { CsvColumns } from '../../../lib/csv';
import { listPayouts } from '../../../services/payouts/payouts';
import { delimiterField, MAX_EXPORT_ROWS, type CsvExport } from '../../page/export-csv';
import { memberPage, redirectTo } from '../../page/page-route';
import { dayOf, formatExactTime } from '../../ui/format';
import { exportRecorded, type ExportDependencies } from '../export-recorded';
import { merchantView, type MerchantView } from '../merchant-view';
import { cursorAfter, payoutFilter, payoutFilterSchema } from './payout-filter';
import { approverOf, requesterOf } from './payout-parts';
import { exportPayoutsPath, payoutsPath } from './payout-paths';
import { PAYOUT_TEXTS } from './payout-texts';

/** The payouts of the list as CSV, with the same filter. */
export const exportPayouts = memberPage(
  { area: 'payouts', level: 'view' },
  {
    method: 'get',
    path: exportPayoutsPath.pattern,
    fields: z.intersection(payoutFilterSchema, z.object({ delimiter: delimiterField })),
    async handler(dependencies: ExportDependencies, visit, query) {
      const view = merchantView(dependencies, visit);
      const { db } = dependencies;
      // The list names the fields that are not possible.
      if (!query.ok) return redirectTo(payoutsPath.to(view, query.sent));
      const { merchantId } = visit.member;
      const filter = payoutFilter(merchantId, query.values, view.locale.zone);
      const source: CsvExport<Payout> = {
        fileName: `payouts-${dayOf(visit.now, view.locale.zone)}`,
        columns: columnsOf(view),
        readPage: (after, limit) => listPayouts(db, { ...filter, after: after ?? filter.after, limit }),
        limitLine: (last) => PAYOUT_TEXTS[visit.language].exportLimit(MAX_EXPORT_ROWS, cursorAfter(last)),
      };
      const action = { action: 'payouts.export', target: merchantId, detail: JSON.stringify(query.sent) } as const;
      return exportRecorded(dependencies, visit, { source, delimiter: query.values.delimiter, action });
    },
  },
);

/** The names of the webhooks; amounts are rupiah. */
function columnsOf(view: MerchantView): CsvColumns<Payout> {
  const timeOf = (at: Date | null) => at && formatExactTime(at, view.locale.zone);
  return {
    reference_id: ({ referenceId }) => referenceId,
    status: ({ status }) => status,
    gross_amount: ({ grossRupiah }) => grossRupiah,
    fee_amount: ({ feeRupiah }) => feeRupiah,
    amount: ({ amountRupiah }) => amountRupiah,
    rail: ({ rail }) => rail,
    bank_code: ({ bankCode }) => bankCode,
    account_last_four: ({ lastFour }) => lastFour,
    requested_by: (payout) => requesterOf(view, payout),
    approved_by: (payout) => payout.approvedBy && approverOf(view, payout),
    requested_at: ({ requestedAt }) => timeOf(requestedAt),
    submitted_at: ({ submittedAt }) => timeOf(submittedAt),
    finished_at: ({ finishedAt }) => timeOf(finishedAt),
    bank_reference: ({ bankReference }) => bankReference,
    failure_reason: ({ failureReason }) => failureReason,
  };
}
