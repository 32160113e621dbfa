import { z } from 'zod';
import {
  listMerchantActions,
  type ActionStart,
  type MerchantActionRow,
} from '../../../db/merchants/list-merchant-actions';
import { delimiterField, MAX_EXPORT_ROWS, type CsvExport } from '../../page/export-csv';
import { memberPage, redirectTo } from '../../page/page-route';
import { formatExactTime } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { exportRecorded, type ExportDependencies } from '../export-recorded';
import { merchantView, type MerchantView } from '../merchant-view';
import { actionFilter, activityFilterSchema, type ActivityFilter } from './activity-filter';
import { activityPath, exportActivityPath } from './activity-paths';
import { ACTIVITY_TEXTS } from './activity-texts';

/** The actions of the list as CSV, with the same filter. */
export const exportActivity = memberPage(
  { area: 'activity', level: 'view' },
  {
    method: 'get',
    path: exportActivityPath.pattern,
    fields: z.intersection(activityFilterSchema, z.object({ delimiter: delimiterField })),
    async handler(dependencies: ExportDependencies, visit, query) {
      const view = merchantView(dependencies, visit);
      // The list names the fields that are not possible.
      if (!query.ok) return redirectTo(activityPath.to(view, query.sent));
      const { merchantId } = visit.member;
      const action = { action: 'activity.export', target: merchantId, detail: JSON.stringify(query.sent) } as const;
      const { delimiter } = query.values;
      const source = sourceOf(dependencies.db, view, merchantId, query.values);
      return exportRecorded(dependencies, visit, { source, delimiter, action });
    },
  },
);

function sourceOf(
  db: DashboardDependencies['db'],
  { locale, nowMs }: MerchantView,
  merchantId: string,
  filter: ActivityFilter,
): CsvExport<MerchantActionRow> {
  const texts = ACTIVITY_TEXTS[locale.language];
  const filtered = actionFilter(merchantId, filter, locale.zone);
  return {
    fileName: `activity-${formatExactTime(new Date(nowMs), locale.zone).slice(0, 10)}`,
    columns: {
      id: ({ id }) => id,
      time: ({ requestedAt }) => formatExactTime(requestedAt, locale.zone),
      user_id: ({ userId }) => userId,
      user_name: ({ userId, userName }) => (userId === null ? texts.lunas : userName),
      action: ({ action }) => action,
      target: ({ target }) => target,
      outcome: ({ outcome }) => outcome,
      address: ({ address }) => address,
    },
    async readPage(after, limit, closed) {
      let start: ActionStart | null = after ? { direction: 'older', than: after.id } : (filter.older ?? null);
      for (;;) {
        const { actions, searchedTo } = await listMerchantActions(db, filtered, start, limit);
        if (actions.length > 0 || searchedTo === null || closed.aborted) return actions;
        start = { direction: 'older', than: searchedTo };
      }
    },
    limitLine: (last) => texts.exportLimit(MAX_EXPORT_ROWS, last.id),
  };
}
