import type { ReactElement } from 'react';
import { z } from 'zod';
import { listNewestDeliveries } from '../../../services/webhooks/own-deliveries';
import { findEndpoint } from '../../../services/webhooks/webhook-endpoints';
import { orNoPage } from '../../page/page-error';
import { memberPage } from '../../page/page-route';
import { Card, DoneNotice, Facts, PageHead, type Fact } from '../../ui/layout';
import { EmptyState } from '../../ui/table';
import { Id, Time } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderDeveloperPage } from '../developer-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { DeliveryTable, versionOfDeliveries, type ShownDelivery } from './delivery-table';
import { DELIVERY_TEXTS } from './delivery-texts';
import { EndpointChip, eventsText, originOf, pendingText, type ShownEndpoint } from './endpoint-parts';
import { deliveriesPath, ENDPOINT_ACTION_PATHS, endpointPath, endpointsPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

/** What has just been done with an endpoint. */
const DONE_CODES = ['saved', 'disabled', 'enabled'] as const;

const SHOWN_DELIVERIES = 20;

/** One endpoint: its state, its newest deliveries, and what can be done with it. */
export const showEndpointPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: endpointPath.pattern,
    fields: z.object({ done: z.enum(DONE_CODES).optional().catch(undefined) }),
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { endpoint: id } = endpointPath.read(visit.request.params);
      const endpoint = await findEndpoint(dependencies.db, visit.member, id).catch(orNoPage);
      const deliveries = await listNewestDeliveries(dependencies.db, endpoint, SHOWN_DELIVERIES);
      const done = query.ok ? query.values.done : undefined;
      const children = <Endpoint view={view} endpoint={endpoint} deliveries={deliveries} done={done} />;
      const title = originOf(endpoint.url);
      return pageResponse(renderDeveloperPage(view, { title, section: 'webhooks', live: 'poll', children }));
    },
  },
);

interface EndpointProps {
  readonly view: MerchantView;
  readonly endpoint: ShownEndpoint;
  /** The newest deliveries of the endpoint, the newest first. */
  readonly deliveries: readonly ShownDelivery[];
  readonly done: (typeof DONE_CODES)[number] | undefined;
}

function Endpoint({ view, endpoint, deliveries, done }: EndpointProps): ReactElement {
  const texts = WEBHOOK_TEXTS[view.locale.language];
  const { id, status, disabledReason, failingSince, pending, nextProbeAt } = endpoint;
  return (
    <div className="stack">
      <div className="narrow">
        <PageHead
          title={<span className="breakable">{originOf(endpoint.url)}</span>}
          back={{ href: endpointsPath.to(view), label: texts.title }}
        >
          <EndpointChip view={view} endpoint={endpoint} />
        </PageHead>
        <div className="stack">
          <DoneNotice text={done && texts.detail.done[done]} />
          <Card part="state" version={`${status}${pending}${failingSince?.getTime()}${nextProbeAt?.getTime()}`}>
            <div className="card-body">
              {disabledReason && <p>{texts.disabledBy[disabledReason]}</p>}
              {nextProbeAt && <p>{texts.probeHint}</p>}
              <Actions view={view} endpoint={endpoint} />
            </div>
            <Facts
              facts={[
                ...factsOf(view, endpoint),
                { name: texts.detail.id, value: <Id value={id} copy={view.texts.copy} /> },
              ]}
            />
          </Card>
        </div>
      </div>
      <Deliveries view={view} endpointId={id} deliveries={deliveries} />
    </div>
  );
}

interface DeliveriesProps extends Pick<EndpointProps, 'view' | 'deliveries'> {
  readonly endpointId: string;
}

function Deliveries({ view, endpointId, deliveries }: DeliveriesProps): ReactElement {
  const { latest, allDeliveries, noneOfEndpoint } = DELIVERY_TEXTS[view.locale.language];
  const all = <a href={deliveriesPath.to(view, { endpoint: endpointId })}>{allDeliveries} ›</a>;
  return (
    <Card title={latest} aside={all} part="deliveries" version={versionOfDeliveries(deliveries)}>
      <DeliveryTable
        view={view}
        deliveries={deliveries}
        empty={<EmptyState icon="developers" text={noneOfEndpoint} />}
      />
    </Card>
  );
}

function Actions({ view, endpoint }: Pick<EndpointProps, 'view' | 'endpoint'>): ReactElement {
  const { detail } = WEBHOOK_TEXTS[view.locale.language];
  const reason = view.rightRejection('developers', 'manage');
  if (reason !== null) return <p className="dim">{reason}</p>;
  const path = { code: view.code, endpoint: endpoint.id };
  const toggle = endpoint.status === 'enabled' ? 'disable' : 'enable';
  const actions = ['ping', 'edit', 'rotate', toggle] as const;
  return (
    <div className="buttons endpoint-actions">
      {actions.map((action) => (
        <a
          key={action}
          className={action === 'ping' ? 'button primary' : 'button'}
          href={ENDPOINT_ACTION_PATHS[action].to(path)}
        >
          {detail[action]}
        </a>
      ))}
      <a className="button danger" href={ENDPOINT_ACTION_PATHS.delete.to(path)}>
        {detail.delete}
      </a>
    </div>
  );
}

function factsOf(view: MerchantView, endpoint: ShownEndpoint): Fact[] {
  const texts = WEBHOOK_TEXTS[view.locale.language];
  const time = (at: Date) => <Time at={at} style="full" locale={view.locale} />;
  const { expand, failingSince, nextProbeAt } = endpoint;
  return [
    { name: texts.detail.url, value: <code className="breakable">{endpoint.url}</code> },
    { name: texts.columns.events, value: eventsText(view, endpoint) },
    ...(expand.length > 0 ? [{ name: texts.detail.expand, value: expand.join(', ') }] : []),
    { name: texts.columns.pending, value: pendingText(endpoint) },
    ...(failingSince ? [{ name: texts.failingSince, value: time(failingSince) }] : []),
    ...(nextProbeAt ? [{ name: texts.nextProbe, value: time(nextProbeAt) }] : []),
    { name: texts.detail.created, value: time(endpoint.createdAt) },
  ];
}
