import type { ReactElement } from 'react';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { Id, Time } from '../../ui/values';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { EndpointChip, eventsText, originOf, type ShownEndpoint } from './endpoint-parts';
import { WEBHOOK_TEXTS, type WebhookTexts } from './webhook-texts';

interface EndpointPage {
  readonly view: MerchantView;
  readonly endpoint: ShownEndpoint;
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

function Endpoint({ view, endpoint, done }: EndpointPage): ReactElement {
  const texts = WEBHOOK_TEXTS[view.locale.language];
  const { id, status, disabledReason, failingSince, pending } = endpoint;
  return (
    <div className="narrow">
      <PageHead
        title={<span className="breakable">{originOf(endpoint.url)}</span>}
        back={{ href: view.paths.webhooks, label: texts.title }}
      />
      <div className="stack">
        {done && (
          <Notice tone="good">
            <p>{texts.detail.done[done]}</p>
          </Notice>
        )}
        <Card part="state" version={`${status}${pending}${failingSince?.getTime()}`}>
          <div className="card-body">
            <p>
              <EndpointChip view={view} endpoint={endpoint} />
            </p>
            {disabledReason && <p>{texts.disabledBy[disabledReason]}</p>}
            {endpoint.nextProbeAt && <p>{texts.probeHint}</p>}
            <Actions view={view} endpoint={endpoint} />
          </div>
        </Card>
        <Card title={texts.detail.facts}>
          <Facts
            facts={[
              ...factsOf(view, endpoint),
              { name: texts.detail.id, value: <Id value={id} copy={view.texts.copy} /> },
            ]}
          />
        </Card>
      </div>
    </div>
  );
}

function Actions({ view, endpoint }: Pick<EndpointPage, 'view' | 'endpoint'>): ReactElement {
  const { detail } = WEBHOOK_TEXTS[view.locale.language];
  const reason = view.rightRejection('developers', 'manage');
  if (reason !== null) return <p className="dim">{reason}</p>;
  const toggle = endpoint.status === 'enabled' ? 'disable' : 'enable';
  const actions = ['ping', 'edit', 'rotate', toggle] as const;
  return (
    <div className="buttons">
      {actions.map((action) => (
        <a key={action} className="button wide-button" href={view.paths.webhookAction(endpoint.id, action)}>
          {detail[action]}
        </a>
      ))}
      <a className="button wide-button danger" href={view.paths.webhookAction(endpoint.id, 'delete')}>
        {detail.delete}
      </a>
    </div>
  );
}

function factsOf(view: MerchantView, endpoint: ShownEndpoint): Fact[] {
  const texts = WEBHOOK_TEXTS[view.locale.language];
  const time = (at: Date) => <Time at={at} style="full" locale={view.locale} />;
  const { failingSince, nextProbeAt } = endpoint;
  return [
    { name: texts.detail.url, value: <code className="breakable">{endpoint.url}</code> },
    { name: texts.columns.events, value: eventsText(view, endpoint) },
    { name: texts.columns.pending, value: endpoint.pending },
    ...(failingSince ? [{ name: texts.failingSince, value: time(failingSince) }] : []),
    ...(nextProbeAt ? [{ name: texts.nextProbe, value: time(nextProbeAt) }] : []),
    { name: texts.detail.created, value: time(endpoint.createdAt) },
  ];
}
