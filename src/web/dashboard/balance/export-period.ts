import { z } from 'zod';
import {
  dayStateOf,
  edgeCells,
  openStatementExport,
  STATEMENT_CSV_COLUMNS,
  statementCells,
  type ExportedLine,
  type Period,
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

type PeriodRow =
  | { readonly kind: 'line'; readonly line: ExportedLine }
  | { readonly kind: 'opening' | 'closing'; readonly balanceRupiah: number };

function sourceOf(
  { openingRupiah, isClosed, readPage }: StatementExport,
  { from, to }: Period,
  texts: BalanceTexts,
): CsvExport<PeriodRow> {
  const name = `balance-${from}-${to}`;
  const state = dayStateOf({ isClosed });
  return {
    fileName: isClosed ? name : `${name}-${texts.provisional.toLowerCase()}`,
    columns: STATEMENT_CSV_COLUMNS,
    cellsOf(row) {
      if (row.kind === 'line') return statementCells(row.line);
      const edge = row.kind === 'opening' ? { day: from, state: null } : { day: to, state };
      return edgeCells({ kind: row.kind, balanceRupiah: row.balanceRupiah, ...edge });
    },
    async readPage(after, limit) {
      if (after === null) return [{ kind: 'opening', balanceRupiah: openingRupiah }];
      if (after.kind === 'closing') return [];
      const last = after.kind === 'line' ? after.line : null;
      const lines = await readPage(last, limit);
      if (lines.length === 0) return [{ kind: 'closing', balanceRupiah: last?.balanceAfterRupiah ?? openingRupiah }];
      return lines.map((line) => ({ kind: 'line', line }));
    },
    limitLine: () => texts.exportLimit(MAX_EXPORT_ROWS),
  };
}
