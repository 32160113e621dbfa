import { z } from 'zod';
import type { PayoutLine } from '../../../db/queries/list-payouts';
import { withUserAudit } from '../../../services/audit/user-audit';
import { listPayoutLines } from '../../../services/payouts/payouts';
import { delimiterField, exportCsv, MAX_EXPORT_ROWS, type CsvExport } from '../../page/export-csv';
import { memberPage, redirectTo } from '../../page/page-route';
import { formatExactTime } from '../../ui/format';
import { BALANCE_TEXTS } from '../balance/balance-texts';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { findOwnPayout } from './find-own-payout';

/** Those of a statement. */
const COLUMNS = ['occurred_at', 'kind', 'reference', 'amount'] as const;

/** What a payout pays as CSV. */
export const exportPayoutLines = memberPage(
  { area: 'payouts', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/payouts/:ref/lines.csv',
    fields: z.object({ delimiter: delimiterField }),
    async handler(
      dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'exportLimit'>,
      visit,
      query,
    ) {
      const { paths, locale } = merchantView(dependencies, visit);
      const { db, log, exportLimit } = dependencies;
      const { id, referenceId } = await findOwnPayout(dependencies, visit);
      if (!query.ok) return redirectTo(paths.payout(referenceId));
      const { language } = visit;
      const { merchantId } = visit.member;
      const source: CsvExport<PayoutLine> = {
        fileName: `payout-${referenceId}`,
        columns: COLUMNS,
        cellsOf: (line) => [
          formatExactTime(line.occurredAt, locale.zone),
          line.kind,
          line.referenceId,
          line.amountRupiah,
        ],
        readPage: (after, limit) => listPayoutLines(db, merchantId, id, { after: after?.postingId ?? 0, limit }),
        limitLine: () => BALANCE_TEXTS[language].exportLimit(MAX_EXPORT_ROWS),
      };
      const by = userIdentity(dependencies, visit);
      const onEnd = await exportLimit.start(by.userId);
      const record = (work: () => Promise<void>) =>
        withUserAudit(db, by, { action: 'payout.export_lines', target: id }, work);
      return exportCsv(source, { language, delimiter: query.values.delimiter, log, record, onEnd });
    },
  },
);
