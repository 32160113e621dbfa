import { z } from 'zod';
import { getStatement, type StatementCursor } from '../../../services/payouts/balance';
import { PageError } from '../../page/page-error';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { statementPath } from './balance-paths';
import { renderStatementPage } from './statement-page';

/** Each line reads four or five buffers of its payment; a page has 200. */
const LINES_PER_PAGE = 30;
const DAY_MS = 86_400_000;

const POSITION = /^(\d{1,15})\.(-?\d{1,15})$/;

/**
 * The position of a line in the statement of its day, with the balance after it. It is not signed: another one only
 * shows another balance beside the lines of the same merchant, in the browser that asks for it.
 */
function encodeStatementCursor({ postingId, balanceAfterRupiah }: StatementCursor): string {
  return Buffer.from(`${postingId}.${balanceAfterRupiah}`).toString('base64url');
}

/** A text that `encodeStatementCursor` did not create is undefined: the page then begins with the first line. */
const statementCursorSchema = z
  .string()
  .transform((text) => {
    const [, postingId, balanceAfterRupiah] = POSITION.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
    if (postingId === undefined) return undefined;
    return { postingId: Number(postingId), balanceAfterRupiah: Number(balanceAfterRupiah) };
  })
  .optional();

/** The statement of a day in WIB: opening, lines, closing. */
export const showStatement = memberPage(
  { area: 'balance', level: 'view' },
  {
    method: 'get',
    path: statementPath.pattern,
    fields: z.object({ after: statementCursorSchema }),
    async handler({ db, environment }: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const { merchantId } = visit.member;
      const { day } = statementPath.read(visit.request.params);
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
          moreLines:
            statement.next && statementPath.to({ ...view, day }, { after: encodeStatementCursor(statement.next) }),
        }),
      );
    },
  },
);

function dayBeside(day: string, difference: 1 | -1): string {
  return new Date(Date.parse(day) + difference * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
