import type { ReactElement } from 'react';
import { Card, Notice, PageHead } from '../../ui/layout';
import { EmptyState, Table, type Column } from '../../ui/table';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { EndpointChip, eventsText, originOf, pendingText, type ShownEndpoint } from './endpoint-parts';
import { WEBHOOK_TEXTS } from './webhook-texts';

interface EndpointListPage {
  readonly view: MerchantView;
  readonly endpoints: readonly ShownEndpoint[];
  readonly isDeleted: boolean;
}

export function renderEndpointListPage(page: EndpointListPage): string {
  const { title } = WEBHOOK_TEXTS[page.view.locale.language];
  return renderDeveloperPage(page.view, {
    title,
    section: 'webhooks',
    live: 'poll',
    children: <EndpointList {...page} />,
  });
}

function EndpointList({ view, endpoints, isDeleted }: EndpointListPage): ReactElement {
  const texts = WEBHOOK_TEXTS[view.locale.language];
  const version = endpoints.map(({ id, status, pending }) => `${id}${status}${pending}`).join();
  return (
    <>
      <PageHead title={texts.title}>
        {view.rightRejection('developers', 'manage') === null && (
          <a className="button primary" href={view.paths.newWebhook}>
            {texts.create}
          </a>
        )}
      </PageHead>
      <div className="stack">
        {isDeleted && (
          <Notice tone="good">
            <p>{texts.detail.done.deleted}</p>
          </Notice>
        )}
        <p className="dim text">{texts.explanation}</p>
        <Card part="endpoints" version={version}>
          <Table
            caption={texts.caption}
            columns={columnsOf(view)}
            rows={endpoints}
            keyOf={({ id }) => id}
            empty={<EmptyState text={texts.nothing} />}
          />
        </Card>
      </div>
    </>
  );
}

function columnsOf(view: MerchantView): Column<ShownEndpoint>[] {
  const { columns } = WEBHOOK_TEXTS[view.locale.language];
  return [
    {
      title: columns.url,
      narrow: 'first',
      className: 'strong clipped',
      cell: ({ id, url }) => (
        <a className="row-link" href={view.paths.webhook(id)}>
          {originOf(url)}
        </a>
      ),
    },
    {
      title: columns.events,
      narrow: 'second',
      className: 'clipped',
      cell: (endpoint) => eventsText(view, endpoint),
    },
    {
      title: columns.pending,
      narrow: 'second-end',
      className: 'number',
      cell: (endpoint) => (
        <>
          {pendingText(endpoint)}
          <span className="narrow-only"> {columns.pending.toLowerCase()}</span>
        </>
      ),
    },
    {
      title: columns.state,
      narrow: 'first-end',
      cell: (endpoint) => <EndpointChip view={view} endpoint={endpoint} />,
    },
  ];
}
