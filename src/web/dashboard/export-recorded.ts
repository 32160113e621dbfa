import type { EndpointResponse, StreamBody } from '../../http/endpoint';
import { withUserAudit, type UserAction } from '../../services/audit/user-audit';
import { exportCsv, type CsvExport, type ExportSettings } from '../page/export-csv';
import type { MemberVisit } from '../page/page-route';
import type { DashboardDependencies } from './dashboard-dependencies';
import { userIdentity } from './user-identity';

/** What every export uses. */
export type ExportDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'exportLimit'>;

interface RecordedExport<Row> {
  readonly source: CsvExport<Row>;
  readonly delimiter: ExportSettings['delimiter'];
  readonly action: UserAction;
}

/** The rows as CSV, within the limit of the user's exports. The export is recorded as an action of the user. */
export async function exportRecorded<Row>(
  { db, log, exportLimit }: ExportDependencies,
  visit: MemberVisit,
  { source, delimiter, action }: RecordedExport<Row>,
): Promise<EndpointResponse<StreamBody>> {
  const by = userIdentity({ log }, visit);
  const { countAsLarge, end } = await exportLimit.start(by.userId);
  const record = (work: () => Promise<void>) => withUserAudit(db, by, action, work);
  return exportCsv(source, { language: visit.language, delimiter, log, record, onLarge: countAsLarge, onEnd: end });
}
