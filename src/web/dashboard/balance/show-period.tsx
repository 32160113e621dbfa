import type { ReactElement } from 'react';
import { dayInWib, monthInWib } from '../../../domain/wib';
import { getPeriodStatement, type Period, type PeriodStatement } from '../../../services/payouts/balance';
import { memberPage, redirectTo } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { ErrorSummary } from '../../ui/form';
import { formatDay, WIB } from '../../ui/format';
import { Card, Notice, PageHead } from '../../ui/layout';
import { EmptyState, Table } from '../../ui/table';
import { Time } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { REPORT_STYLES } from '../files';
import { renderMerchantPage } from '../merchant-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { dayColumns } from './balance-page';
import { balancePath, exportPeriodPath, periodPath } from './balance-paths';
import { BALANCE_TEXTS, type BalanceTexts } from './balance-texts';
import { periodFields } from './period-filter';
import { PeriodForm } from './period-form';
import { Sums } from './statement-sums';

/** The statement of some days in WIB, to read and to print: the sums, and each day. The lines are in the CSV. */
export const showPeriod = memberPage(
  { area: 'balance', level: 'view' },
  {
    method: 'get',
    path: periodPath.pattern,
    fields: periodFields,
    async handler({ db, environment }: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView({ environment }, visit);
      if (Object.keys(query.sent).length === 0) return redirectTo(periodPath.to(view, monthOf(visit.now)));
      const sent = query.sent;
      if (!query.ok) return pageResponse(renderPeriod({ view, sent, errors: query.errors, statement: null }), 422);
      const { from } = query.values;
      const statement = await getPeriodStatement(db, visit.member.merchantId, query.values);
      if (from > statement.openDay) {
        return pageResponse(renderPeriod({ view, sent, errors: { from: 'notBegun' }, statement: null }), 422);
      }
      const to = query.values.to < statement.openDay ? query.values.to : statement.openDay;
      return pageResponse(renderPeriod({ view, sent, errors: {}, statement: { ...statement, from, to } }));
    },
  },
);

function monthOf(now: Date) {
  return { from: `${monthInWib(now)}-01`, to: dayInWib(now) };
}

interface PeriodPage {
  readonly view: MerchantView;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  /** Null: the days are not possible. */
  readonly statement: (PeriodStatement & Period) | null;
}

function renderPeriod(page: PeriodPage): string {
  const { view, statement } = page;
  const texts = BALANCE_TEXTS[view.locale.language];
  return renderMerchantPage(view, {
    title: statement === null ? texts.ofPeriod : titleOf(view, statement),
    current: 'balance',
    live: 'none',
    styles: REPORT_STYLES,
    children: <PeriodContent {...page} />,
  });
}

function titleOf({ locale }: MerchantView, { from, to }: Period): string {
  const texts = BALANCE_TEXTS[locale.language];
  return texts.period(formatDay(from, locale.language), formatDay(to, locale.language));
}

function PeriodContent({ view, sent, errors, statement }: PeriodPage): ReactElement {
  const texts = BALANCE_TEXTS[view.locale.language];
  const messages = Object.fromEntries(Object.entries(errors).map(([name, code]) => [name, errorText(texts, code)]));
  const month = statement?.to.slice(0, 'YYYY-MM'.length);
  return (
    <>
      <PageHead
        title={statement === null ? texts.ofPeriod : titleOf(view, statement)}
        back={{ href: balancePath.to(view, { month }), label: texts.title }}
      >
        {statement && (
          <>
            <button type="button" className="button no-print" data-print="" hidden>
              {texts.print}
            </button>
            <a className="button no-print" href={exportPeriodPath.to(view, { from: statement.from, to: statement.to })}>
              {texts.csv}
            </a>
          </>
        )}
      </PageHead>
      <div className="stack">
        <ErrorSummary title={texts.wrongDays} errors={messages} />
        {statement && <Statement view={view} statement={statement} />}
        <PeriodForm view={view} from={sent.from ?? ''} to={sent.to ?? ''} errors={messages} />
      </div>
    </>
  );
}

function errorText(texts: BalanceTexts, code: string): string {
  const errors: Readonly<Partial<Record<string, string>>> = texts.errors;
  return errors[code] ?? texts.errors.day;
}

interface StatementProps {
  readonly view: MerchantView;
  readonly statement: PeriodStatement & Period;
}

function Statement({ view, statement }: StatementProps): ReactElement {
  const { locale, merchantName, nowMs } = view;
  const texts = BALANCE_TEXTS[locale.language];
  const { isClosed, days } = statement;
  return (
    <>
      <p className="print-only">
        <b>{merchantName}</b> · {texts.asOf}{' '}
        <Time at={new Date(nowMs)} style="full" locale={{ ...locale, zone: WIB }} /> WIB
      </p>
      <Notice tone={isClosed ? 'good' : 'info'}>
        <b>{isClosed ? texts.closed : texts.provisional}</b>
        <p>{isClosed ? texts.closedHint : texts.openDaysHint}</p>
      </Notice>
      <Sums view={view} {...statement} />
      <Card title={texts.daysTitle} aside={<span className="dim small">{texts.lines(statement.lineCount)}</span>}>
        <Table
          caption={texts.daysCaption}
          columns={dayColumns(view)}
          rows={days}
          keyOf={({ day }) => day}
          empty={<EmptyState icon="balance" text={texts.noDaysOf} />}
        />
      </Card>
    </>
  );
}
