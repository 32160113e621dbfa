import type { ReactElement } from 'react';
import { PROVIDERS } from '../../../domain/provider-capabilities';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { Tabs } from '../../ui/attention';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { MoreFilters } from '../../ui/more-filters';
import { Select } from '../../ui/select';
import { EmptyState, Pager } from '../../ui/table';
import { linksPath } from '../links/link-paths';
import { LINK_TEXTS } from '../links/link-texts';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { ListSum, type ListedSum } from './list-sum';
import { PAYMENT_GROUP_NAMES } from './payment-groups';
import { exportPaymentsPath, paymentsPath } from './payment-paths';
import { NewPaymentLink, PaymentTable, versionOfTable, type ListedPayment } from './payment-table';
import { PAYMENT_TEXTS } from './payment-texts';
import { PROVIDER_NAMES } from './provider-names';

/** More new payments are not counted. */
export const MAX_NEW = 50;
const PROVIDER_OPTIONS = PROVIDERS.map((name) => ({ value: name, label: PROVIDER_NAMES[name] }));

export interface ListPage {
  readonly view: MerchantView;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly payments: readonly ListedPayment[];
  /** Null: not counted. */
  readonly sum: ListedSum | null;
  /** The query of the neighbouring pages; null if there is none. */
  readonly newer: SentFields | null;
  readonly older: SentFields | null;
  /** Whether only 2,000 payments were compared with the filter, or the search found more than it shows. */
  readonly isCut: boolean;
  /** Where the script begins when it reads the list again; null: with the newest payment. */
  readonly top: string | null;
  /** Payments above the page since it was opened. */
  readonly newCount: number;
}

export function renderListPage(page: ListPage): string {
  const { view, sent, top } = page;
  const isFirstPage = page.newer === null && sent.q === undefined;
  const isLive = isFirstPage && Object.keys(page.errors).length === 0;
  return renderMerchantPage(view, {
    title: view.texts.list.title,
    current: 'payments',
    live: isLive ? { poll: paymentsPath.to(view, { ...sent, top: top ?? undefined }) } : 'none',
    children: <List {...page} />,
  });
}

function List(page: ListPage): ReactElement {
  const { view, payments, errors, newer, older } = page;
  const { texts } = view;
  const messages = Object.fromEntries(Object.entries(errors).map(([name, code]) => [name, errorText(view, code)]));
  const version = versionOfTable(payments);
  const hasFilter = payments.length > 0 || Object.keys(page.sent).length > 0;
  const hrefOf = (query: SentFields | null) => query && paymentsPath.to(view, query);
  return (
    <>
      <PageHead title={texts.list.title}>
        <a className="button" href={linksPath.to(view)}>
          {LINK_TEXTS[view.locale.language].title}
        </a>
        {hasFilter && <ExportLink page={page} />}
        <NewPaymentLink view={view} />
      </PageHead>
      <div className="stack">
        <ErrorSummary title={texts.list.errorTitle} errors={messages} />
        {hasFilter && <Filters page={page} messages={messages} />}
        {page.isCut && (
          <Notice tone="info">
            <p>{PAYMENT_TEXTS[view.locale.language][page.sent.q === undefined ? 'searched' : 'moreFound']}</p>
          </Notice>
        )}
        {page.sum !== null && <ListSum view={view} sum={page.sum} />}
        <div className="followed-list">
          <NewPayments page={page} />
          <Card part="list" version={version}>
            <PaymentTable view={view} payments={payments} empty={<Empty page={page} />} />
            <Pager newer={hrefOf(newer)} older={hrefOf(older)} texts={texts.list.pager} />
          </Card>
        </div>
      </div>
    </>
  );
}

/** The rows of an open page stay where they are. */
function NewPayments({ page: { view, sent, newCount } }: { readonly page: ListPage }): ReactElement {
  const texts = PAYMENT_TEXTS[view.locale.language];
  const count = newCount > MAX_NEW ? `${MAX_NEW}+` : String(newCount);
  return (
    <div className="new-rows" data-part="new" data-version={count} data-announce="">
      {newCount > 0 && (
        <a href={paymentsPath.to(view, sent)}>
          {texts.newPayments(count)} {texts.show}
        </a>
      )}
    </div>
  );
}

function errorText({ texts: { list } }: MerchantView, code: string): string {
  const errors: Readonly<Partial<Record<string, string>>> = list.errors;
  return errors[code] ?? list.errors.text;
}

function ExportLink({ page: { view, sent, errors } }: { readonly page: ListPage }): ReactElement | null {
  if (Object.keys(errors).length > 0 || view.rightRejection('turnover', 'view') !== null) return null;
  const { older: _, newer: __, ...filters } = sent;
  return (
    <a className="button" href={exportPaymentsPath.to(view, filters)} download>
      {PAYMENT_TEXTS[view.locale.language].export}
    </a>
  );
}

interface FiltersProps {
  readonly page: ListPage;
  readonly messages: Readonly<Partial<Record<string, string>>>;
}

function Filters({ page: { view, sent }, messages }: FiltersProps): ReactElement {
  const { texts } = view;
  const { q, from, to, provider, amount } = sent;
  const own = PAYMENT_TEXTS[view.locale.language];
  const isSet = [from, to, amount, provider].some((value) => value !== undefined);
  const group = sent.group ?? (sent.status === undefined ? 'all' : undefined);
  // The group of the success rate is shown to who comes from it.
  const names = PAYMENT_GROUP_NAMES.filter((name) => name !== 'tried' || name === group);
  const tabs = names.map((name) => ({
    label: texts.groups[name],
    href: paymentsPath.to(view, { group: name === 'all' ? undefined : name, from, to, provider, amount }),
    isCurrent: q === undefined && name === group,
  }));
  return (
    <>
      <form className="filter" method="get" action={paymentsPath.to(view)}>
        {sent.group !== undefined && <input type="hidden" name="group" value={sent.group} />}
        {sent.status !== undefined && <input type="hidden" name="status" value={sent.status} />}
        <Field
          wide
          name="q"
          label={texts.list.search}
          type="search"
          value={q ?? ''}
          error={messages.q}
          maxLength={64}
        />
        <MoreFilters label={own.moreFilters} isSet={isSet}>
          <Field name="from" label={texts.list.from} type="date" value={from ?? ''} error={messages.from} />
          <Field name="to" label={texts.list.to} type="date" value={to ?? ''} error={messages.to} />
          <Field
            name="amount"
            label={own.amount}
            inputMode="numeric"
            value={amount ?? ''}
            error={messages.amount}
            maxLength={16}
          />
          <Select
            name="provider"
            label={own.provider}
            value={provider ?? ''}
            options={[{ value: '', label: own.allProviders }, ...PROVIDER_OPTIONS]}
            error={messages.provider}
          />
          <button className="button">{texts.list.apply}</button>
        </MoreFilters>
      </form>
      <Tabs name={texts.list.groupsName} tabs={tabs} />
    </>
  );
}

function Empty({ page: { view, sent, errors } }: { readonly page: ListPage }): ReactElement {
  const { texts } = view;
  const isSearched = Object.keys(errors).length === 0;
  const { noMatch, notFound, notSearched } = texts.list;
  if (Object.keys(sent).length > 0) {
    return (
      <EmptyState icon="search" text={isSearched ? (sent.q === undefined ? noMatch : notFound) : notSearched}>
        <a className="button" href={paymentsPath.to(view)}>
          {texts.list.clear}
        </a>
      </EmptyState>
    );
  }
  return <EmptyState icon="payments" text={texts.list.nothing} />;
}
