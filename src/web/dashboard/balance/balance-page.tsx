import type { ComponentProps, ReactElement } from 'react';
import type { Balance } from '../../../domain/balance';
import { formatRupiah } from '../../../domain/money';
import { formatDay, formatMonth } from '../../ui/format';
import { Card, PageHead } from '../../ui/layout';
import { EmptyState, Table, type Column } from '../../ui/table';
import { Money, SignedMoney, Time } from '../../ui/values';
import { INVOICE_PAGE_TEXTS } from '../invoices/invoice-page-texts';
import { invoicesPath } from '../invoices/invoice-paths';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { NewPayoutLink } from '../payouts/payout-parts';
import { balancePath, periodPath, statementPath } from './balance-paths';
import { BALANCE_TEXTS } from './balance-texts';
import { LineTable, type ShownLine } from './line-table';
import { daysOfMonth } from './period-filter';
import { PeriodForm } from './period-form';

/** The sums of a day as the pages show them. */
export interface ShownDay {
  readonly day: string;
  readonly openingRupiah: number;
  readonly creditRupiah: number;
  readonly debitRupiah: number;
  readonly closingRupiah: number;
  readonly isClosed: boolean;
}

export interface BalancePage extends Balance {
  readonly view: MerchantView;
  readonly whyNot: ComponentProps<typeof NewPayoutLink>['whyNot'];
  readonly newest: readonly ShownLine[];
  /** `2026-11`, in WIB. */
  readonly month: string;
  readonly days: readonly ShownDay[];
  readonly earlierMonth: string;
  /** Null: the month has not ended. */
  readonly laterMonth: string | null;
}

export function renderBalancePage(page: BalancePage): string {
  return renderMerchantPage(page.view, {
    title: BALANCE_TEXTS[page.view.locale.language].title,
    current: 'balance',
    live: page.laterMonth === null ? 'poll' : 'none',
    children: <BalanceContent {...page} />,
  });
}

function BalanceContent(page: BalancePage): ReactElement {
  const { view, newest, whyNot } = page;
  const texts = BALANCE_TEXTS[view.locale.language];
  return (
    <>
      <PageHead title={texts.title}>
        <a className="button" href={invoicesPath.to(view)}>
          {INVOICE_PAGE_TEXTS[view.locale.language].title}
        </a>
        <NewPayoutLink view={view} whyNot={whyNot} />
      </PageHead>
      <div className="stack">
        <Amounts {...page} />
        <Card title={texts.newest} part="newest" version={String(newest[0]?.postingId ?? 0)}>
          <LineTable
            view={view}
            lines={newest}
            timeStyle="short"
            empty={<EmptyState icon="balance" text={texts.nothing} />}
          />
        </Card>
        <Month {...page} />
        <PeriodForm view={view} from="" to="" errors={{}} />
      </div>
    </>
  );
}

/** The way of the money: from the customers over the balance to the bank. */
function Amounts({ view, availableRupiah, pendingRupiah, inTransitRupiah, asOf }: BalancePage): ReactElement {
  const texts = BALANCE_TEXTS[view.locale.language];
  return (
    <Card part="amounts" version={`${availableRupiah} ${pendingRupiah} ${inTransitRupiah}`}>
      <div className="card-body balances">
        <Amount name={texts.pending} hint={texts.pendingHint} rupiah={pendingRupiah} />
        <Amount
          name={texts.available}
          hint={availableRupiah < 0 ? texts.owed(formatRupiah(-availableRupiah)) : texts.availableHint}
          rupiah={availableRupiah}
          isMain
        />
        <Amount name={texts.inTransit} hint={texts.inTransitHint} rupiah={inTransitRupiah} />
        <p className="dim small">
          {texts.asOf} <Time at={asOf} style="second" locale={view.locale} />
        </p>
      </div>
    </Card>
  );
}

interface AmountProps {
  readonly name: string;
  readonly hint: string;
  readonly rupiah: number;
  readonly isMain?: true;
}

function Amount({ name, hint, rupiah, isMain }: AmountProps): ReactElement {
  return (
    <div className={isMain && 'main'}>
      <h2>{name}</h2>
      <p className="amount">
        <Money rupiah={rupiah} />
      </p>
      <p className="dim small">{hint}</p>
    </div>
  );
}

function Month({ view, month, days, earlierMonth, laterMonth }: BalancePage): ReactElement {
  const { locale } = view;
  const texts = BALANCE_TEXTS[locale.language];
  const hrefOf = (other: string) => balancePath.to(view, { month: other });
  const version = days.map(({ day, closingRupiah, isClosed }) => `${day}${closingRupiah}${isClosed}`).join();
  return (
    <Card
      title={texts.days(formatMonth(month, locale))}
      aside={<a href={periodPath.to(view, daysOfMonth(month))}>{texts.ofMonth}</a>}
      part="days"
      version={version}
    >
      <Table
        caption={texts.daysCaption}
        columns={dayColumns(view)}
        rows={days.toReversed()}
        keyOf={({ day }) => day}
        empty={<EmptyState icon="balance" text={texts.noDays} />}
      />
      <nav className="pager" aria-label={texts.months}>
        <a href={hrefOf(earlierMonth)}>‹ {texts.earlierMonth}</a>
        {laterMonth === null ? <span /> : <a href={hrefOf(laterMonth)}>{texts.laterMonth} ›</a>}
      </nav>
    </Card>
  );
}

type Narrow = Column<ShownDay>['narrow'];

/** What each day of a statement shows. */
export function dayColumns({ locale, code }: MerchantView): Column<ShownDay>[] {
  const texts = BALANCE_TEXTS[locale.language];
  const { columns } = texts;
  const column = (Amount: typeof Money) => (title: string, narrow: Narrow, rupiahOf: (row: ShownDay) => number) => ({
    title,
    narrow,
    className: 'number',
    cell: (row: ShownDay) => <Amount rupiah={rupiahOf(row)} />,
  });
  const [money, change] = [column(Money), column(SignedMoney)];
  return [
    {
      title: columns.day,
      narrow: 'first',
      cell: ({ day, isClosed }) => (
        <>
          <a className="row-link" href={statementPath.to({ code, day })}>
            <time dateTime={day}>{formatDay(day, locale.language)}</time>
          </a>
          {!isClosed && (
            <>
              {' '}
              <span className="chip">{texts.provisional}</span>
            </>
          )}
        </>
      ),
    },
    money(columns.opening, 'hidden', ({ openingRupiah }) => openingRupiah),
    change(columns.in, 'second', ({ creditRupiah }) => creditRupiah),
    change(columns.out, 'second-end', ({ debitRupiah }) => -debitRupiah),
    money(columns.closing, 'first-end', ({ closingRupiah }) => closingRupiah),
  ];
}
