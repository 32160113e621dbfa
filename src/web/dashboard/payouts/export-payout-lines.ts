import { z } from 'zod';
import type { PayoutLine } from '../../../db/payouts/list-payouts';
import { listPayoutLines } from '../../../services/payouts/payouts';
import { delimiterField, MAX_EXPORT_ROWS, type CsvExport } from '../../page/export-csv';
import { memberPage, redirectTo } from '../../page/page-route';
import { formatExactTime } from '../../ui/format';
import { BALANCE_TEXTS } from '../balance/balance-texts';
import { exportRecorded, type ExportDependencies } from '../export-recorded';
import { merchantView } from '../merchant-view';
import { findOwnPayout } from './find-own-payout';
import { exportPayoutLinesPath, payoutPagePath } from './payout-paths';

/** What a payout pays as CSV. */
export const exportPayoutLines = memberPage(
  { area: 'payouts', level: 'view' },
  {
    method: 'get',
    path: exportPayoutLinesPath.pattern,
    fields: z.object({ delimiter: delimiterField }),
    async handler(dependencies: ExportDependencies, visit, query) {
      const { code, locale } = merchantView(dependencies, visit);
      const { db } = dependencies;
      const { id, referenceId } = await findOwnPayout(dependencies, visit);
      if (!query.ok) return redirectTo(payoutPagePath.to({ code, ref: referenceId }));
      const { language } = visit;
      const { merchantId } = visit.member;
      const source: CsvExport<PayoutLine> = {
        fileName: `payout-${referenceId}`,
        // As in a statement.
        columns: {
          occurred_at: ({ occurredAt }) => formatExactTime(occurredAt, locale.zone),
          kind: ({ kind }) => kind,
          reference: (line) => line.referenceId,
          amount: ({ amountRupiah }) => amountRupiah,
        },
        readPage: (after, limit) => listPayoutLines(db, merchantId, id, { after: after?.postingId ?? 0, limit }),
        limitLine: () => BALANCE_TEXTS[language].exportLimit(MAX_EXPORT_ROWS),
      };
      const action = { action: 'payout.export_lines', target: id } as const;
      return exportRecorded(dependencies, visit, { source, delimiter: query.values.delimiter, action });
    },
  },
);
