import type { ReactElement } from 'react';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { Table } from '../../ui/table';
import { Id, Time } from '../../ui/values';
import { renderDeveloperPage } from '../developer-page';
import { keyPath } from '../keys/key-paths';
import type { MerchantView } from '../merchant-view';
import { paymentPagePath } from '../payments/payment-paths';
import { columnsOf } from './request-list-page';
import { IgnoredNames, StatusCode, type ShownRequest } from './request-parts';
import { requestsPath } from './request-paths';
import { REQUEST_TEXTS } from './request-texts';

interface RequestPage {
  readonly view: MerchantView;
  readonly request: ShownRequest;
  /** The references of the request's payments. */
  readonly references: readonly string[];
  /** Earlier requests with the same id, which callers choose. */
  readonly earlier: readonly ShownRequest[];
}

export function renderRequestPage(page: RequestPage): string {
  const { title } = REQUEST_TEXTS[page.view.locale.language].detail;
  return renderDeveloperPage(page.view, {
    title: `${title} ${page.request.requestId}`,
    section: 'requests',
    live: 'none',
    children: <Request {...page} />,
  });
}

function Request({ view, request, references, earlier }: RequestPage): ReactElement {
  const texts = REQUEST_TEXTS[view.locale.language];
  return (
    <>
      <div className="narrow">
        <PageHead title={texts.detail.title} back={{ href: requestsPath.to(view), label: texts.title }} />
        <div className="stack">
          {request.status === null && (
            <Notice tone="warning">
              <p>{texts.closedHint}</p>
            </Notice>
          )}
          {(request.ignoredFields.length > 0 || request.ignoredParameters.length > 0) && (
            <Notice tone="warning">
              <p>{texts.ignoredHint}</p>
            </Notice>
          )}
          <Card>
            <Facts facts={factsOf(view, request, references)} />
          </Card>
          <p className="dim">{texts.explanation}</p>
        </div>
      </div>
      {earlier.length > 0 && (
        <Card title={texts.detail.earlier}>
          <Table
            caption={texts.detail.earlier}
            columns={columnsOf(view)}
            rows={earlier}
            keyOf={({ id }) => String(id)}
            empty={null}
          />
        </Card>
      )}
    </>
  );
}

function factsOf(view: MerchantView, request: ShownRequest, references: readonly string[]): Fact[] {
  const { locale, texts: shared } = view;
  const texts = REQUEST_TEXTS[locale.language];
  const { columns, detail } = texts;
  const { errorCode, errorReason, ignoredFields, ignoredParameters, key, keyId } = request;
  return [
    { name: columns.status, value: <StatusCode status={request.status} texts={texts} /> },
    { name: detail.method, value: <code>{request.method}</code> },
    { name: detail.path, value: <code>{request.path}</code> },
    ...(errorCode === null ? [] : [{ name: detail.code, value: <code>{errorCode}</code> }]),
    ...(errorReason === null ? [] : [{ name: detail.reason, value: <code>{errorReason}</code> }]),
    ...(ignoredFields.length === 0 ? [] : [{ name: detail.fields, value: <IgnoredNames names={ignoredFields} /> }]),
    ...(ignoredParameters.length === 0
      ? []
      : [{ name: detail.parameters, value: <IgnoredNames names={ignoredParameters} /> }]),
    { name: columns.time, value: <Time at={request.startedAt} style="full" locale={locale} /> },
    { name: columns.duration, value: texts.milliseconds(request.durationMs.toLocaleString(locale.language)) },
    { name: columns.key, value: key === null ? '–' : <a href={keyPath.to({ code: view.code, key: keyId })}>{key}</a> },
    { name: columns.payments, value: <Payments view={view} references={references} /> },
    { name: detail.id, value: <Id value={request.requestId} copy={shared.copy} /> },
  ];
}

interface PaymentsProps {
  readonly view: MerchantView;
  readonly references: readonly string[];
}

function Payments({ view, references }: PaymentsProps): ReactElement {
  if (references.length === 0) return <>{REQUEST_TEXTS[view.locale.language].noPayments}</>;
  if (view.rightRejection('payments', 'view') !== null) return <>{references.join(', ')}</>;
  return (
    <ul className="plain-list">
      {references.map((reference) => (
        <li key={reference}>
          <a href={paymentPagePath.to({ ...view, ref: reference })}>
            <code>{reference}</code>
          </a>
        </li>
      ))}
    </ul>
  );
}
