import type { ReactElement } from 'react';
import type { Balance } from '../../../domain/balance';
import { Attention, Tabs, type AttentionRow } from '../../ui/attention';
import { Checklist, type ChecklistStep } from '../../ui/checklist';
import { Card, PageHead } from '../../ui/layout';
import { EmptyState } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import { balancePath } from '../balance/balance-paths';
import { renderMerchantPage } from '../merchant-page';
import { homePath, type MerchantView } from '../merchant-view';
import { NoticeList, type ShownNotice } from '../notices/notice-list';
import { paymentsPath } from '../payments/payment-paths';
import { NewPaymentLink, PaymentTable, versionOfTable, type ListedPayment } from '../payments/payment-table';
import { PaidChart } from './home-chart';
import { RANGE_NAMES, type ShownFigures } from './home-range';
import { HOME_TEXTS } from './home-texts';

interface HomePage {
  readonly view: MerchantView;
  readonly payments: readonly ListedPayment[];
  readonly attention: readonly AttentionRow[];
  /** The first steps of a new merchant; null: it is no new one, or all are done. */
  readonly checklist: readonly ChecklistStep[] | null;
  readonly notices: readonly ShownNotice[];
  /** Null: the role sees no turnover, and `payments` are its own ones of the day. */
  readonly figures: ShownFigures | null;
  /** Null: the role may not view it. */
  readonly balance: Pick<Balance, 'availableRupiah' | 'pendingRupiah' | 'inTransitRupiah'> | null;
}

export function renderHomePage(page: HomePage): string {
  return renderMerchantPage(page.view, {
    title: page.view.texts.home.title,
    current: 'home',
    live: 'poll',
    showsState: true,
    children: <Home {...page} />,
  });
}

function Home({ view, payments, attention, checklist, notices, figures, balance }: HomePage): ReactElement {
  const { texts } = view;
  return (
    <>
      <PageHead title={texts.home.title}>
        <NewPaymentLink view={view} />
      </PageHead>
      <div className="stack">
        {figures !== null && <Figures view={view} figures={figures} />}
        {checklist !== null && <FirstSteps view={view} steps={checklist} />}
        {attention.length > 0 && (
          <Card title={texts.home.attention} part="attention" version={attention.map(({ text }) => text).join()}>
            <Attention rows={attention} />
          </Card>
        )}
        <NoticeList view={view} notices={notices} />
        {figures !== null && (
          <div className={balance === null ? undefined : 'home-columns'}>
            <PaidChart view={view} figures={figures} />
            {balance !== null && <BalanceCard view={view} balance={balance} />}
          </div>
        )}
        <Card
          title={figures === null ? HOME_TEXTS[view.locale.language].own : texts.home.newest}
          aside={<a href={paymentsPath.to(view)}>{texts.home.all}</a>}
          part="newest"
          version={versionOfTable(payments)}
        >
          <PaymentTable
            view={view}
            payments={payments}
            empty={<EmptyState icon="payments" text={texts.list.nothing} />}
          />
        </Card>
      </div>
    </>
  );
}

interface FirstStepsProps {
  readonly view: MerchantView;
  readonly steps: readonly ChecklistStep[];
}

function FirstSteps({ view, steps }: FirstStepsProps): ReactElement {
  const texts = HOME_TEXTS[view.locale.language];
  const done = steps.filter(({ isDone }) => isDone);
  const needed = steps.filter(({ isDone, isOptional }) => isDone || isOptional !== true);
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <section data-part="checklist" data-version={done.map(({ title }) => title).join()}>
      <details className="card first-steps">
        <summary>
          <b>{texts.checklist}</b> {next && texts.next(next.title)}
          <span className="dim small">{texts.progress(done.length, needed.length)}</span>
        </summary>
        <Checklist steps={steps} states={texts.stepStates} />
      </details>
    </section>
  );
}

interface FiguresProps {
  readonly view: MerchantView;
  readonly figures: ShownFigures;
}

function Figures({ view, figures }: FiguresProps): ReactElement {
  const { locale } = view;
  const texts = HOME_TEXTS[locale.language];
  const { payments, paidRupiah, netRupiah, tried, from, to, asOf } = figures;
  const tabs = RANGE_NAMES.map((range) => ({
    label: texts.ranges[range],
    href: homePath.to(view, { range }),
    isCurrent: range === figures.range,
  }));
  const paid = paymentsPath.to(view, { group: 'paid', from, to });
  const number = new Intl.NumberFormat(locale.language === 'id' ? 'id-ID' : 'en-GB', { maximumFractionDigits: 1 });
  const rate = tried === 0 ? '–' : `${number.format((payments / tried) * 100)} %`;
  const shown = [
    { name: texts.paid, href: paid, value: <Money rupiah={paidRupiah} />, hint: texts.withRefunded },
    { name: texts.payments, href: paid, value: number.format(payments), hint: texts.withRefunded },
    {
      name: texts.success,
      href: paymentsPath.to(view, { group: 'tried', from, to }),
      value: rate,
      hint: tried === 0 ? texts.noneTried : texts.ofTried(number.format(payments), number.format(tried)),
    },
    { name: texts.net, href: paid, value: <Money rupiah={netRupiah} />, hint: texts.afterFees },
  ];
  const isCounted = asOf.getTime() > 0;
  const version = [payments, paidRupiah, netRupiah, tried, from].join();
  return (
    <section aria-label={texts.figures} data-part="figures" data-version={version}>
      <Tabs name={texts.rangeName} tabs={tabs} />
      <ul className="figures">
        {shown.map(({ name, href, value, hint }) => (
          <li key={name}>
            <a href={href}>
              <span className="dim small">{name}</span>
              <b>{value}</b>
              <span className="dim small">{hint}</span>
            </a>
          </li>
        ))}
      </ul>
      <p className="dim small as-of">
        {isCounted ? (
          <>
            {texts.asOf} <Time at={asOf} style="second" locale={locale} />
          </>
        ) : (
          texts.notCounted
        )}
      </p>
    </section>
  );
}

interface BalanceCardProps {
  readonly view: MerchantView;
  readonly balance: NonNullable<HomePage['balance']>;
}

function BalanceCard({ view, balance }: BalanceCardProps): ReactElement {
  const texts = HOME_TEXTS[view.locale.language];
  const { availableRupiah, pendingRupiah, inTransitRupiah } = balance;
  const aside = <a href={balancePath.to(view)}>{texts.showBalance}</a>;
  return (
    <Card
      title={texts.balance}
      aside={aside}
      part="balance"
      version={`${availableRupiah} ${pendingRupiah} ${inTransitRupiah}`}
    >
      <div className="card-body">
        <BalancePart name={texts.available} rupiah={availableRupiah} className="amount" />
        <BalancePart name={texts.pending} rupiah={pendingRupiah} className="strong" />
        <BalancePart name={texts.inTransit} rupiah={inTransitRupiah} className="strong" />
      </div>
    </Card>
  );
}

interface BalancePartProps {
  readonly name: string;
  readonly rupiah: number;
  readonly className: 'amount' | 'strong';
}

function BalancePart({ name, rupiah, className }: BalancePartProps): ReactElement {
  return (
    <div>
      <p className="dim small">{name}</p>
      <p className={className}>
        <Money rupiah={rupiah} />
      </p>
    </div>
  );
}
