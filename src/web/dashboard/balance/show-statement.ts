import { z } from 'zod';
import { getStatement } from '../../../services/payouts/balance';
import { PageError } from '../../page/page-error';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { encodeStatementCursor, statementCursorSchema } from './statement-cursor';
import { dayOf } from './statement-day';
import { renderStatementPage } from './statement-page';

/** Each line reads four or five buffers of its payment; a page has 200. */
const LINES_PER_PAGE = 30;
const DAY_MS = 86_400_000;

/** The statement of a day in WIB: opening, lines, closing. */
export const showStatement = memberPage(
  { area: 'balance', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/balance/days/:day',
    fields: z.object({ after: statementCursorSchema }),
    async handler({ db, environment }: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const { merchantId } = visit.member;
      const day = dayOf(visit.request);
      const position = query.ok ? query.values.after : undefined;
      const after = position && { ...position, bookedOn: day };
      const statement = await getStatement(db, merchantId, day, { limit: LINES_PER_PAGE, ...(after && { after }) });
      if (day > statement.openDay) throw new PageError('not_found', 'a day that has not begun');
      const view = merchantView({ environment }, visit);
      return pageResponse(
        renderStatementPage({
          view,
          ...statement,
          earlierDay: dayBeside(day, -1),
          laterDay: day < statement.openDay ? dayBeside(day, 1) : null,
          isFirstPage: after === undefined,
          moreLines: statement.next && view.paths.balanceDay(day, encodeStatementCursor(statement.next)),
        }),
      );
    },
  },
);

function dayBeside(day: string, difference: 1 | -1): string {
  return new Date(Date.parse(day) + difference * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
