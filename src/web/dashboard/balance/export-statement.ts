import { z } from 'zod';
import { openStatementExport, STATEMENT_CSV_COLUMNS, type ExportedLine } from '../../../services/payouts/balance';
import { delimiterField, MAX_EXPORT_ROWS, type CsvExport } from '../../page/export-csv';
import { memberPage, redirectTo } from '../../page/page-route';
import { exportRecorded, type ExportDependencies } from '../export-recorded';
import { merchantView } from '../merchant-view';
import { exportStatementPath, statementPath } from './balance-paths';
import { BALANCE_TEXTS } from './balance-texts';

/** The lines of a day in WIB as CSV. */
export const exportStatement = memberPage(
  { area: 'balance', level: 'view' },
  {
    method: 'get',
    path: exportStatementPath.pattern,
    fields: z.object({ delimiter: delimiterField }),
    async handler(dependencies: ExportDependencies, visit, query) {
      const { db } = dependencies;
      const { day } = exportStatementPath.read(visit.request.params);
      if (!query.ok) return redirectTo(statementPath.to({ ...merchantView(dependencies, visit), day }));
      const texts = BALANCE_TEXTS[visit.language];
      const { isClosed, readPage } = await openStatementExport(db, visit.member.merchantId, { from: day, to: day });
      const source: CsvExport<ExportedLine> = {
        fileName: isClosed ? `balance-${day}` : `balance-${day}-${texts.provisional.toLowerCase()}`,
        columns: STATEMENT_CSV_COLUMNS,
        readPage,
        limitLine: () => texts.exportLimit(MAX_EXPORT_ROWS),
      };
      const action = { action: 'statement.export', target: day } as const;
      return exportRecorded(dependencies, visit, { source, delimiter: query.values.delimiter, action });
    },
  },
);
