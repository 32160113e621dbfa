import type { ComponentProps, ReactElement } from 'react';
import type { BankAccountStatus } from '../../../domain/bank-account-transitions';
import { describeAccount } from '../../../domain/banks';
import { PAYOUT_STATUSES } from '../../../domain/payout-transitions';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, DoneNotice, Facts, PageHead, type Fact } from '../../ui/layout';
import { MoreFilters } from '../../ui/more-filters';
import { Select } from '../../ui/select';
import { EmptyState, Pager } from '../../ui/table';
import { bankAccountPath } from '../bank-account/bank-account-paths';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { NewPayoutLink, type ListedPayout } from './payout-parts';
import { exportPayoutsPath, payoutsPath, proposedSchedulePath, schedulePath } from './payout-paths';
import { PayoutTable } from './payout-table';
import { PAYOUT_TEXTS } from './payout-texts';
import { SCHEDULE_TEXTS } from './schedule-texts';

interface PayoutListPage {
  readonly view: MerchantView;
  readonly whyNot: ComponentProps<typeof NewPayoutLink>['whyNot'];
  readonly filters: SentFields;
  readonly errors: FieldErrors;
  readonly payouts: readonly ListedPayout[];
  /** The account that receives payouts; null: none. */
  readonly account: ReceivingAccount | null;
  /** The next automatic payout in words. */
  readonly nextRun: string;
  /** Whether a change of the schedule waits for a second member. */
  readonly isProposed: boolean;
  /** Whether the schedule was saved just before. */
  readonly isSaved: boolean;
  readonly isFirstPage: boolean;
  /** The cursor of the next page; null if there is none. */
  readonly older: string | null;
}

interface ReceivingAccount {
  readonly bankCode: string;
  readonly lastFour: string;
  readonly status: BankAccountStatus;
}

export function renderPayoutListPage(page: PayoutListPage): string {
  const { view, errors, isFirstPage } = page;
  return renderMerchantPage(view, {
    title: PAYOUT_TEXTS[view.locale.language].title,
    current: 'payouts',
    live: isFirstPage && Object.keys(errors).length === 0 ? 'poll' : 'none',
    children: <PayoutList {...page} />,
  });
}

function PayoutList(page: PayoutListPage): ReactElement {
  const { view, filters, payouts, errors, older, isFirstPage, isSaved, whyNot } = page;
  const texts = PAYOUT_TEXTS[view.locale.language];
  const known: Readonly<Partial<Record<string, string>>> = texts.filters.errors;
  const entries = Object.entries(errors).map(([name, code]) => [name, known[code] ?? known.cursor ?? code] as const);
  const messages = Object.fromEntries(entries);
  const isFiltered = Object.keys(filters).length > 0;
  const hasFilter = payouts.length > 0 || isFiltered;
  return (
    <>
      <PageHead title={texts.title}>
        {entries.length === 0 && hasFilter && (
          <a className="button" href={exportPayoutsPath.to(view, filters)} download>
            {texts.export}
          </a>
        )}
        <NewPayoutLink view={view} whyNot={whyNot} />
      </PageHead>
      <div className="stack">
        <DoneNotice text={isSaved && SCHEDULE_TEXTS[view.locale.language].saved} />
        <p className="dim text">{texts.explanation}</p>
        <Card>
          <Facts facts={settingFacts(page)} />
        </Card>
        <ErrorSummary title={texts.filters.errorTitle} errors={messages} />
        {hasFilter && <Filters view={view} filters={filters} messages={messages} />}
        <Card part="list" version={payouts.map(({ referenceId, version }) => `${referenceId}${version}`).join()}>
          <PayoutTable
            view={view}
            payouts={payouts}
            empty={<Empty view={view} isFiltered={isFiltered} isSearched={entries.length === 0} />}
          />
          <Pager
            newer={isFirstPage ? null : payoutsPath.to(view, filters)}
            older={older && payoutsPath.to(view, { ...filters, older })}
            texts={{ ...texts.pager, newer: texts.pager.newest }}
          />
        </Card>
      </div>
    </>
  );
}

function settingFacts({ view, account, nextRun, isProposed }: PayoutListPage): Fact[] {
  const texts = PAYOUT_TEXTS[view.locale.language];
  const name = account === null ? texts.noAccount : describeAccount(account.bankCode, account.lastFour);
  const schedule = SCHEDULE_TEXTS[view.locale.language];
  const isChangeable = view.rightRejection('payouts', 'authorise') === null;
  const link = isProposed ? (
    <a href={proposedSchedulePath.to(view)}>{schedule.proposal.title}</a>
  ) : (
    <a href={schedulePath.to(view)}>{schedule.change}</a>
  );
  return [
    { name: texts.receives, value: <a href={bankAccountPath.to(view)}>{name}</a> },
    {
      name: schedule.next,
      value: (
        <>
          {nextRun} {isChangeable && link}
        </>
      ),
    },
  ];
}

interface FiltersProps {
  readonly view: MerchantView;
  readonly filters: SentFields;
  readonly messages: FieldErrors;
}

function Filters({ view, filters, messages }: FiltersProps): ReactElement {
  const texts = PAYOUT_TEXTS[view.locale.language];
  const { status, from, to } = filters;
  const statuses = PAYOUT_STATUSES.map((name) => ({ value: name, label: texts.statuses[name] }));
  return (
    <form className="filter" method="get" action={payoutsPath.to(view)}>
      <MoreFilters label={texts.filters.label} isSet={Object.keys(filters).length > 0}>
        <Select
          name="status"
          label={texts.filters.status}
          value={status ?? ''}
          options={[{ value: '', label: texts.filters.all }, ...statuses]}
          error={messages.status}
        />
        <Field name="from" label={texts.filters.from} type="date" value={from ?? ''} error={messages.from} />
        <Field name="to" label={texts.filters.to} type="date" value={to ?? ''} error={messages.to} />
        <button className="button">{texts.filters.apply}</button>
      </MoreFilters>
    </form>
  );
}

interface EmptyProps {
  readonly view: MerchantView;
  readonly isFiltered: boolean;
  readonly isSearched: boolean;
}

function Empty({ view, isFiltered, isSearched }: EmptyProps): ReactElement {
  const texts = PAYOUT_TEXTS[view.locale.language];
  if (!isFiltered && isSearched) return <EmptyState icon="payouts" text={texts.nothing} />;
  return (
    <EmptyState icon="search" text={isSearched ? texts.noMatch : view.texts.list.notSearched}>
      <a className="button" href={payoutsPath.to(view)}>
        {texts.filters.clear}
      </a>
    </EmptyState>
  );
}
