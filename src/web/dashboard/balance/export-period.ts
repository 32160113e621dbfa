import { z } from 'zod';
import {
  openStatementExport,
  STATEMENT_CSV_COLUMNS,
  type ExportedLine,
  type Period,
  type StatementEdge,
  type StatementExport,
} from '../../../services/payouts/balance';
import { delimiterField, MAX_EXPORT_ROWS, type CsvExport } from '../../page/export-csv';
import { memberPage, redirectTo } from '../../page/page-route';
import { exportRecorded, type ExportDependencies } from '../export-recorded';
import { merchantView } from '../merchant-view';
import { exportPeriodPath, periodPath } from './balance-paths';
import { BALANCE_TEXTS, type BalanceTexts } from './balance-texts';
import { periodFields } from './period-filter';

/** The lines of some days in WIB as CSV, between the opening and the closing of the period. */
export const exportPeriod = memberPage(
  { area: 'balance', level: 'view' },
  {
    method: 'get',
    path: exportPeriodPath.pattern,
    fields: z.intersection(periodFields, z.object({ delimiter: delimiterField })),
    async handler(dependencies: ExportDependencies, visit, query) {
      // The page names the fields that are not possible.
      if (!query.ok) return redirectTo(periodPath.to(merchantView(dependencies, visit), query.sent));
      const { delimiter, ...period } = query.values;
      const statement = await openStatementExport(dependencies.db, visit.member.merchantId, period);
      const source = sourceOf(statement, period, BALANCE_TEXTS[visit.language]);
      const action = { action: 'statement.export', target: `${period.from}/${period.to}` } as const;
      return exportRecorded(dependencies, visit, { source, delimiter, action });
    },
  },
);

const NO_LINE = { occurredAt: null, referenceId: null, merchantReferenceId: null, amountRupiah: null } as const;

function sourceOf(
  { openingRupiah, isClosed, readPage }: StatementExport,
  { from, to }: Period,
  texts: BalanceTexts,
): CsvExport<ExportedLine | StatementEdge> {
  const name = `balance-${from}-${to}`;
  return {
    fileName: isClosed ? name : `${name}-${texts.provisional.toLowerCase()}`,
    columns: STATEMENT_CSV_COLUMNS,
    async readPage(after, limit) {
      if (after === null) {
        return [{ ...NO_LINE, kind: 'opening', bookedOn: from, balanceAfterRupiah: openingRupiah, isClosed: null }];
      }
      if (after.kind === 'closing') return [];
      const lines = await readPage('postingId' in after ? after : null, limit);
      if (lines.length > 0) return lines;
      return [{ ...NO_LINE, kind: 'closing', bookedOn: to, balanceAfterRupiah: after.balanceAfterRupiah, isClosed }];
    },
    limitLine: () => texts.exportLimit(MAX_EXPORT_ROWS),
  };
}
