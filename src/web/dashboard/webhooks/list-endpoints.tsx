import type { ReactElement } from 'react';
import { z } from 'zod';
import { listOwnEndpoints } from '../../../services/webhooks/webhook-endpoints';
import { memberPage } from '../../page/page-route';
import { Card, DoneNotice, PageHead } from '../../ui/layout';
import { EmptyState, Table, type Column } from '../../ui/table';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderDeveloperPage } from '../developer-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { EndpointChip, eventsText, originOf, pendingText, type ShownEndpoint } from './endpoint-parts';
import { endpointPath, endpointsPath, newEndpointPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

/** The endpoints of a merchant, without their secrets. */
export const listEndpointPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: endpointsPath.pattern,
    fields: z.object({ done: z.enum(['deleted']).optional().catch(undefined) }),
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const endpoints = await listOwnEndpoints(dependencies.db, visit.member.merchantId);
      const isDeleted = query.ok && query.values.done === 'deleted';
      const { title } = WEBHOOK_TEXTS[view.locale.language];
      const children = <EndpointList view={view} endpoints={endpoints} isDeleted={isDeleted} />;
      return pageResponse(renderDeveloperPage(view, { title, section: 'webhooks', live: 'poll', children }));
    },
  },
);

interface EndpointListProps {
  readonly view: MerchantView;
  readonly endpoints: readonly ShownEndpoint[];
  readonly isDeleted: boolean;
}

function EndpointList({ view, endpoints, isDeleted }: EndpointListProps): ReactElement {
  const texts = WEBHOOK_TEXTS[view.locale.language];
  const version = endpoints.map(({ id, status, pending }) => `${id}${status}${pending}`).join();
  return (
    <>
      <PageHead title={texts.title}>
        {view.rightRejection('developers', 'manage') === null && (
          <a className="button primary" href={newEndpointPath.to(view)}>
            {texts.create}
          </a>
        )}
      </PageHead>
      <div className="stack">
        <DoneNotice text={isDeleted && texts.detail.done.deleted} />
        <p className="dim text">{texts.explanation}</p>
        <Card part="endpoints" version={version}>
          <Table
            caption={texts.caption}
            columns={columnsOf(view)}
            rows={endpoints}
            keyOf={({ id }) => id}
            empty={<EmptyState icon="developers" text={texts.nothing} />}
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
        <a className="row-link" href={endpointPath.to({ code: view.code, endpoint: id })}>
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
