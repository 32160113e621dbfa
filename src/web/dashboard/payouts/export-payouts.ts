import { z } from 'zod';
import type { Payout } from '../../../db/payouts/list-payouts';
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

/** The names of the webhooks; amounts are rupiah. */
const COLUMNS = [
  'reference_id',
  'status',
  'gross_amount',
  'fee_amount',
  'amount',
  'rail',
  'bank_code',
  'account_last_four',
  'requested_by',
  'approved_by',
  'requested_at',
  'submitted_at',
  'finished_at',
  'bank_reference',
  'failure_reason',
] as const;

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
        columns: COLUMNS,
        cellsOf: (payout) => cellsOf(view, payout),
        readPage: (after, limit) => listPayouts(db, { ...filter, after: after ?? filter.after, limit }),
        limitLine: (last) => PAYOUT_TEXTS[visit.language].exportLimit(MAX_EXPORT_ROWS, cursorAfter(last)),
      };
      const action = { action: 'payouts.export', target: merchantId, detail: JSON.stringify(query.sent) } as const;
      return exportRecorded(dependencies, visit, { source, delimiter: query.values.delimiter, action });
    },
  },
);

function cellsOf(view: MerchantView, payout: Payout): (string | number | null)[] {
  const timeOf = (at: Date | null) => at && formatExactTime(at, view.locale.zone);
  return [
    payout.referenceId,
    payout.status,
    payout.grossRupiah,
    payout.feeRupiah,
    payout.amountRupiah,
    payout.rail,
    payout.bankCode,
    payout.lastFour,
    requesterOf(view, payout),
    payout.approvedBy && approverOf(view, payout),
    timeOf(payout.requestedAt),
    timeOf(payout.submittedAt),
    timeOf(payout.finishedAt),
    payout.bankReference,
    payout.failureReason,
  ];
}
