import type { ReactElement } from 'react';
import { z } from 'zod';
import { findFirstBalanceDay, getStatement, type StatementCursor } from '../../../services/payouts/balance';
import { PageError } from '../../page/page-error';
import { memberPage } from '../../page/page-route';
import { formatDay } from '../../ui/format';
import { Card, Notice, PageHead } from '../../ui/layout';
import { EmptyState } from '../../ui/table';
import { Money } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderMerchantPage } from '../merchant-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import type { ShownDay } from './balance-page';
import { balancePath, exportStatementPath, statementPath } from './balance-paths';
import { BALANCE_TEXTS } from './balance-texts';
import { LineTable, type ShownLine } from './line-table';
import { Sums } from './statement-sums';

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
      const [statement, firstDay] = await Promise.all([
        getStatement(db, merchantId, day, { limit: LINES_PER_PAGE, ...(after && { after }) }),
        findFirstBalanceDay(db, merchantId),
      ]);
      if (day > statement.openDay) throw new PageError('not_found', 'a day that has not begun');
      if (day < firstDay) throw new PageError('not_found', 'a day before the merchant began');
      const view = merchantView({ environment }, visit);
      return pageResponse(
        renderStatementPage({
          view,
          ...statement,
          earlierDay: day > firstDay ? dayBeside(day, -1) : null,
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

interface ShownStatementLine extends ShownLine {
  readonly balanceAfterRupiah: number;
}

export interface StatementPage extends ShownDay {
  readonly view: MerchantView;
  readonly lineCount: number;
  readonly lines: readonly ShownStatementLine[];
  /** Null: the day is the first one. */
  readonly earlierDay: string | null;
  /** Null: the day is the newest one. */
  readonly laterDay: string | null;
  readonly isFirstPage: boolean;
  /** The address of the next lines; null if there are none. */
  readonly moreLines: string | null;
}

function renderStatementPage(page: StatementPage): string {
  return renderMerchantPage(page.view, {
    title: titleOf(page),
    current: 'balance',
    live: page.isClosed || !page.isFirstPage ? 'none' : 'poll',
    children: <Statement {...page} />,
  });
}

function titleOf({ view, day }: StatementPage): string {
  const { language } = view.locale;
  return BALANCE_TEXTS[language].statement(formatDay(day, language));
}

function Statement(page: StatementPage): ReactElement {
  const { view, day, isClosed, lineCount } = page;
  const texts = BALANCE_TEXTS[view.locale.language];
  return (
    <>
      <PageHead
        title={titleOf(page)}
        back={{ href: balancePath.to(view, { month: day.slice(0, 'YYYY-MM'.length) }), label: texts.title }}
      >
        <a className="button" href={exportStatementPath.to({ ...view, day })}>
          {texts.csv}
        </a>
      </PageHead>
      <div className="stack">
        {!isClosed && (
          <Notice tone="info">
            <b>{texts.provisional}</b>
            <p>{texts.provisionalHint}</p>
          </Notice>
        )}
        <Sums {...page} />
        <Card title={texts.lines(lineCount)} part="lines" version={String(lineCount)}>
          <Lines {...page} />
        </Card>
        <Neighbours {...page} />
      </div>
    </>
  );
}

function Lines({ view, lines, day, isFirstPage, moreLines }: StatementPage): ReactElement {
  const texts = BALANCE_TEXTS[view.locale.language];
  const after = {
    title: texts.columns.after,
    narrow: 'hidden',
    className: 'number',
    cell: ({ balanceAfterRupiah }: ShownStatementLine) => <Money rupiah={balanceAfterRupiah} />,
  } as const;
  return (
    <>
      <LineTable
        view={view}
        lines={lines}
        timeStyle="full"
        more={[after]}
        empty={<EmptyState icon="balance" text={texts.noLines} />}
      />
      {(!isFirstPage || moreLines !== null) && (
        <nav className="pager" aria-label={texts.pages}>
          {isFirstPage ? <span /> : <a href={statementPath.to({ ...view, day })}>‹ {texts.firstLines}</a>}
          {moreLines === null ? <span /> : <a href={moreLines}>{texts.moreLines} ›</a>}
        </nav>
      )}
    </>
  );
}

function Neighbours({ view, earlierDay, laterDay }: StatementPage): ReactElement {
  const texts = BALANCE_TEXTS[view.locale.language];
  return (
    <nav className="pager" aria-label={texts.daysTitle}>
      {earlierDay === null ? (
        <span />
      ) : (
        <a href={statementPath.to({ ...view, day: earlierDay })}>‹ {texts.earlierDay}</a>
      )}
      {laterDay === null ? <span /> : <a href={statementPath.to({ ...view, day: laterDay })}>{texts.laterDay} ›</a>}
    </nav>
  );
}
