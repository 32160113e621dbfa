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
  readonly figures: ShownFigures;
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
  const { texts, locale } = view;
  const { rangeName, ranges } = HOME_TEXTS[locale.language];
  const tabs = RANGE_NAMES.map((range) => ({
    label: ranges[range],
    href: homePath.to(view, { range }),
    isCurrent: range === figures.range,
  }));
  return (
    <>
      <PageHead title={texts.home.title}>
        <NewPaymentLink view={view} />
      </PageHead>
      <div className="stack">
        {attention.length > 0 && (
          <Card title={texts.home.attention} part="attention" version={attention.map(({ text }) => text).join()}>
            <Attention rows={attention} />
          </Card>
        )}
        {checklist !== null && <FirstSteps view={view} steps={checklist} />}
        <NoticeList view={view} notices={notices} />
        <Tabs name={rangeName} tabs={tabs} />
        <Figures view={view} figures={figures} />
        <div className={balance === null ? undefined : 'home-columns'}>
          <PaidChart view={view} figures={figures} />
          {balance !== null && <BalanceCard view={view} balance={balance} />}
        </div>
        <Card
          title={texts.home.newest}
          aside={<a href={paymentsPath.to(view)}>{texts.home.all}</a>}
          part="newest"
          version={versionOfTable(payments)}
        >
          <PaymentTable view={view} payments={payments} empty={<EmptyState text={texts.list.nothing} />} />
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
  const aside = <span className="dim small">{texts.progress(done.length, needed.length)}</span>;
  return (
    <Card title={texts.checklist} aside={aside} part="checklist" version={done.map(({ title }) => title).join()}>
      <Checklist steps={steps} states={texts.stepStates} />
    </Card>
  );
}

interface FiguresProps {
  readonly view: MerchantView;
  readonly figures: ShownFigures;
}

function Figures({ view, figures }: FiguresProps): ReactElement {
  const { locale } = view;
  const texts = HOME_TEXTS[locale.language];
  const { payments, paidRupiah, netRupiah, ended, from, to, asOf } = figures;
  const paid = paymentsPath.to(view, { group: 'paid', from, to });
  const number = new Intl.NumberFormat(locale.language === 'id' ? 'id-ID' : 'en-GB', { maximumFractionDigits: 1 });
  const rate = ended === 0 ? '–' : `${number.format((payments / ended) * 100)} %`;
  const shown = [
    { name: texts.paid, href: paid, value: <Money rupiah={paidRupiah} />, hint: texts.withRefunded },
    { name: texts.payments, href: paid, value: number.format(payments), hint: texts.withRefunded },
    {
      name: texts.success,
      href: paymentsPath.to(view, { group: 'ended', from, to }),
      value: rate,
      hint: ended === 0 ? texts.noneEnded : texts.ofEnded(number.format(payments), number.format(ended)),
    },
    { name: texts.net, href: paid, value: <Money rupiah={netRupiah} />, hint: texts.afterFees },
  ];
  const isCounted = asOf.getTime() > 0;
  const version = [payments, paidRupiah, netRupiah, ended, from].join();
  return (
    <section aria-label={texts.figures} data-part="figures" data-version={version}>
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
