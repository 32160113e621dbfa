import { z } from 'zod';
import { withUserAudit } from '../../../services/audit/user-audit';
import {
  getStatement,
  STATEMENT_CSV_COLUMNS,
  statementCells,
  type StatementLine,
} from '../../../services/payouts/balance';
import { delimiterField, exportCsv, MAX_EXPORT_ROWS, type CsvExport } from '../../page/export-csv';
import { memberPage, redirectTo } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { BALANCE_TEXTS } from './balance-texts';
import { dayOf } from './statement-day';

/** The lines of a day in WIB as CSV. */
export const exportStatement = memberPage(
  { area: 'balance', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/balance/days/:day.csv',
    fields: z.object({ delimiter: delimiterField }),
    async handler(
      dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'exportLimit'>,
      visit,
      query,
    ) {
      const { db, log, exportLimit } = dependencies;
      const day = dayOf(visit.request);
      if (!query.ok) return redirectTo(merchantView(dependencies, visit).paths.balanceDay(day));
      const { language } = visit;
      const { merchantId } = visit.member;
      const source: CsvExport<StatementLine> = {
        fileName: `balance-${day}`,
        columns: STATEMENT_CSV_COLUMNS,
        cellsOf: statementCells,
        readPage: async (after, limit) =>
          (await getStatement(db, merchantId, day, { limit, ...(after && { after }) })).lines,
        limitLine: () => BALANCE_TEXTS[language].exportLimit(MAX_EXPORT_ROWS),
      };
      const by = userIdentity(dependencies, visit);
      const onEnd = await exportLimit.start(by.userId);
      const record = (work: () => Promise<void>) =>
        withUserAudit(db, by, { action: 'statement.export', target: day }, work);
      return exportCsv(source, { language, delimiter: query.values.delimiter, log, record, onEnd });
    },
  },
);
