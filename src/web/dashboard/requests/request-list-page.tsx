import type { ReactElement } from 'react';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { Tabs } from '../../ui/attention';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { MoreFilters } from '../../ui/more-filters';
import { Select } from '../../ui/select';
import { EmptyState, Pager, Table, type Column } from '../../ui/table';
import { Time } from '../../ui/values';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { ErrorOf, StatusCode, type ShownRequest } from './request-parts';
import { requestPath, requestsPath } from './request-paths';
import { REQUEST_TEXTS, STATUS_CLASSES } from './request-texts';

interface RequestListPage {
  readonly view: MerchantView;
  /** The keys of the merchant, for the filter. */
  readonly keys: readonly { readonly id: string; readonly name: string | null; readonly masked: string }[];
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly requests: readonly ShownRequest[];
  /** The query of the next page; null: there is none. */
  readonly older: SentFields | null;
  /** Older requests were not searched. */
  readonly isLimited: boolean;
}

export function renderRequestListPage(page: RequestListPage): string {
  const isNewest = page.sent.older === undefined && Object.keys(page.errors).length === 0;
  return renderDeveloperPage(page.view, {
    title: REQUEST_TEXTS[page.view.locale.language].title,
    section: 'requests',
    live: isNewest ? 'poll' : 'none',
    children: <RequestList {...page} />,
  });
}

function RequestList(page: RequestListPage): ReactElement {
  const { view, requests, errors, sent, older, isLimited } = page;
  const texts = REQUEST_TEXTS[view.locale.language];
  const { older: before, ...filters } = sent;
  return (
    <>
      <PageHead title={texts.title} />
      <div className="stack">
        <p className="dim text">{texts.explanation}</p>
        <ErrorSummary title={texts.errorTitle} errors={messagesOf(page)} />
        {(requests.length > 0 || Object.keys(sent).length > 0) && <Filters {...page} />}
        <Card part="list" version={requests.map(({ id }) => id).join()}>
          <Table
            caption={texts.caption}
            columns={columnsOf(view)}
            rows={requests}
            keyOf={({ id }) => String(id)}
            empty={<Empty {...page} />}
          />
          <Pager
            newer={before === undefined || 'older' in errors ? null : requestsPath.to(view, filters)}
            older={older && requestsPath.to(view, older)}
            texts={texts.pager}
          />
        </Card>
        {isLimited && (
          <Notice tone="info">
            <p>{texts.limited}</p>
          </Notice>
        )}
      </div>
    </>
  );
}

function messagesOf({ view, errors }: Pick<RequestListPage, 'view' | 'errors'>): FieldErrors {
  const texts = REQUEST_TEXTS[view.locale.language];
  const known: Readonly<Partial<Record<string, string>>> = texts.errors;
  return Object.fromEntries(Object.entries(errors).map(([name, code]) => [name, known[code] ?? texts.errors.cursor]));
}

function Filters(page: RequestListPage): ReactElement {
  const { view, keys, sent } = page;
  const texts = REQUEST_TEXTS[view.locale.language];
  const messages = messagesOf(page);
  const { from, to, key } = sent;
  const status = sent.status ?? 'all';
  const tabs = STATUS_CLASSES.map((name) => ({
    label: texts.classes[name],
    href: requestsPath.to(view, { status: name === 'all' ? undefined : name, key, from, to }),
    isCurrent: name === status,
  }));
  const options = keys.map(({ id, name, masked }) => ({ value: id, label: name ?? masked }));
  return (
    <>
      <form className="filter" method="get" action={requestsPath.to(view)}>
        {sent.status !== undefined && <input type="hidden" name="status" value={sent.status} />}
        <MoreFilters label={texts.filters} isSet={[key, from, to].some((value) => value !== undefined)}>
          <Select
            name="key"
            label={texts.key}
            value={key ?? ''}
            options={[{ value: '', label: texts.allKeys }, ...options]}
            error={messages.key}
          />
          <Field name="from" label={texts.from} type="date" value={from ?? ''} error={messages.from} />
          <Field name="to" label={texts.to} type="date" value={to ?? ''} error={messages.to} />
          <button className="button">{texts.apply}</button>
        </MoreFilters>
      </form>
      <Tabs name={texts.classesName} tabs={tabs} />
    </>
  );
}

function Empty({ view, sent }: RequestListPage): ReactElement {
  const texts = REQUEST_TEXTS[view.locale.language];
  if (Object.keys(sent).length === 0) return <EmptyState icon="developers" text={texts.nothing} />;
  return (
    <EmptyState icon="search" text={texts.noMatch}>
      <a className="button" href={requestsPath.to(view)}>
        {texts.clear}
      </a>
    </EmptyState>
  );
}

/** In a narrow column the action at the end of a path is what matters; the page of the request has the whole path. */
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

export function columnsOf({ locale, code }: MerchantView): Column<ShownRequest>[] {
  const texts = REQUEST_TEXTS[locale.language];
  const { columns } = texts;
  return [
    {
      title: columns.time,
      narrow: 'second',
      cell: ({ startedAt }) => <Time at={startedAt} style="full" locale={locale} />,
    },
    {
      title: columns.request,
      narrow: 'first',
      className: 'clipped',
      cell: ({ requestId, method, path }) => (
        <a className="row-link" href={requestPath.to({ code, request: requestId })}>
          <code>
            {method} {path.replaceAll(UUID, '…')}
          </code>
        </a>
      ),
    },
    {
      title: columns.status,
      narrow: 'first-end',
      cell: ({ status }) => <StatusCode status={status} texts={texts} />,
    },
    {
      title: columns.error,
      narrow: 'hidden',
      cell: (request) => <ErrorOf request={request} texts={texts} />,
    },
    {
      title: columns.duration,
      narrow: 'hidden',
      className: 'number wide-only',
      cell: ({ durationMs }) => texts.milliseconds(durationMs.toLocaleString(locale.language)),
    },
    {
      title: columns.key,
      narrow: 'second-end',
      className: 'clipped',
      cell: ({ key }) => key ?? <span className="dim">–</span>,
    },
    {
      title: columns.payments,
      narrow: 'hidden',
      className: 'number wide-only',
      cell: ({ paymentIds }) =>
        paymentIds.length === 0 ? <span className="dim">–</span> : texts.payments(paymentIds.length),
    },
  ];
}
