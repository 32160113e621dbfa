import type { ReactElement } from 'react';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { EmptyState } from '../../ui/table';
import { Id, Time } from '../../ui/values';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { DeliveryTable, versionOfDeliveries, type ShownDelivery } from './delivery-table';
import { DELIVERY_TEXTS } from './delivery-texts';
import { EndpointChip, eventsText, originOf, pendingText, type ShownEndpoint } from './endpoint-parts';
import { WEBHOOK_TEXTS, type WebhookTexts } from './webhook-texts';

interface EndpointPage {
  readonly view: MerchantView;
  readonly endpoint: ShownEndpoint;
  /** The newest deliveries of the endpoint, the newest first. */
  readonly deliveries: readonly ShownDelivery[];
  readonly done: keyof WebhookTexts['detail']['done'] | undefined;
}

export function renderEndpointPage(page: EndpointPage): string {
  return renderDeveloperPage(page.view, {
    title: originOf(page.endpoint.url),
    section: 'webhooks',
    live: 'poll',
    children: <Endpoint {...page} />,
  });
}

function Endpoint({ view, endpoint, deliveries, done }: EndpointPage): ReactElement {
  const texts = WEBHOOK_TEXTS[view.locale.language];
  const { id, status, disabledReason, failingSince, pending, nextProbeAt } = endpoint;
  return (
    <div className="stack">
      <div className="narrow">
        <PageHead
          title={<span className="breakable">{originOf(endpoint.url)}</span>}
          back={{ href: view.paths.webhooks, label: texts.title }}
        >
          <EndpointChip view={view} endpoint={endpoint} />
        </PageHead>
        <div className="stack">
          {done && (
            <Notice tone="good">
              <p>{texts.detail.done[done]}</p>
            </Notice>
          )}
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

interface DeliveriesProps extends Pick<EndpointPage, 'view' | 'deliveries'> {
  readonly endpointId: string;
}

function Deliveries({ view, endpointId, deliveries }: DeliveriesProps): ReactElement {
  const { latest, allDeliveries, noneOfEndpoint } = DELIVERY_TEXTS[view.locale.language];
  const all = <a href={view.paths.deliveryList({ endpoint: endpointId })}>{allDeliveries} ›</a>;
  return (
    <Card title={latest} aside={all} part="deliveries" version={versionOfDeliveries(deliveries)}>
      <DeliveryTable view={view} deliveries={deliveries} empty={<EmptyState text={noneOfEndpoint} />} />
    </Card>
  );
}

function Actions({ view, endpoint }: Pick<EndpointPage, 'view' | 'endpoint'>): ReactElement {
  const { detail } = WEBHOOK_TEXTS[view.locale.language];
  const reason = view.rightRejection('developers', 'manage');
  if (reason !== null) return <p className="dim">{reason}</p>;
  const toggle = endpoint.status === 'enabled' ? 'disable' : 'enable';
  const actions = ['ping', 'edit', 'rotate', toggle] as const;
  return (
    <div className="buttons endpoint-actions">
      {actions.map((action) => (
        <a
          key={action}
          className={action === 'ping' ? 'button primary' : 'button'}
          href={view.paths.webhookAction(endpoint.id, action)}
        >
          {detail[action]}
        </a>
      ))}
      <a className="button danger" href={view.paths.webhookAction(endpoint.id, 'delete')}>
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
