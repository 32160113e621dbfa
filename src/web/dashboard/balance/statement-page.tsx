import type { ReactElement } from 'react';
import { formatTime, startOfDay, WIB } from '../../ui/format';
import { Card, Facts, Notice, PageHead } from '../../ui/layout';
import { EmptyState } from '../../ui/table';
import { Money, SignedMoney } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import type { ShownDay } from './balance-page';
import { balancePath, exportStatementPath, statementPath } from './balance-paths';
import { BALANCE_TEXTS } from './balance-texts';
import { LineTable, type ShownLine } from './line-table';

interface ShownStatementLine extends ShownLine {
  readonly balanceAfterRupiah: number;
}

export interface StatementPage extends ShownDay {
  readonly view: MerchantView;
  readonly lineCount: number;
  readonly lines: readonly ShownStatementLine[];
  readonly earlierDay: string;
  /** Null: the day is the newest one. */
  readonly laterDay: string | null;
  readonly isFirstPage: boolean;
  /** The address of the next lines; null if there are none. */
  readonly moreLines: string | null;
}

export function renderStatementPage(page: StatementPage): string {
  return renderMerchantPage(page.view, {
    title: titleOf(page),
    current: 'balance',
    live: page.isClosed || !page.isFirstPage ? 'none' : 'poll',
    children: <Statement {...page} />,
  });
}

function titleOf({ view: { locale }, day }: StatementPage): string {
  return BALANCE_TEXTS[locale.language].statement(formatTime(startOfDay(day, WIB), 'day', { ...locale, zone: WIB }));
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

function Sums({ view: { locale }, ...day }: StatementPage): ReactElement {
  const { columns } = BALANCE_TEXTS[locale.language];
  return (
    <Card part="sums" version={String(day.closingRupiah)}>
      <Facts
        facts={[
          { name: columns.opening, value: <Money rupiah={day.openingRupiah} /> },
          { name: columns.in, value: <SignedMoney rupiah={day.creditRupiah} /> },
          { name: columns.out, value: <SignedMoney rupiah={-day.debitRupiah} /> },
          { name: columns.closing, value: <Money rupiah={day.closingRupiah} />, isTotal: true },
        ]}
      />
    </Card>
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
        empty={<EmptyState text={texts.noLines} />}
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
    <nav className="pager" aria-label={texts.neighbours}>
      <a href={statementPath.to({ ...view, day: earlierDay })}>‹ {texts.earlierDay}</a>
      {laterDay === null ? <span /> : <a href={statementPath.to({ ...view, day: laterDay })}>{texts.laterDay} ›</a>}
    </nav>
  );
}
