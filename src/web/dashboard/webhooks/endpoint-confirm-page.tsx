import { randomUUID } from 'node:crypto';
import type { ReactElement } from 'react';
import type { PingReport } from '../../../domain/ping-report';
import { Choices } from '../../ui/choices';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, Notice, PageHead } from '../../ui/layout';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { eventsText, originOf, pendingText, type ShownEndpoint } from './endpoint-parts';
import { WEBHOOK_TEXTS } from './webhook-texts';

/** For how many hours an old secret signs beside its new one. */
export const SECRET_OVERLAPS = ['0', '1', '24', '72'] as const;

export type EndpointAction = 'rotate' | 'ping' | 'disable' | 'enable' | 'delete';

interface EndpointConfirmPage {
  readonly view: MerchantView;
  readonly endpoint: ShownEndpoint;
  readonly action: EndpointAction;
  /** Why it is not possible; null if it is. */
  readonly rejection: string | null;
  /** The result of a ping that was just sent. */
  readonly ping?: PingReport | undefined;
}

export function renderEndpointConfirmPage(page: EndpointConfirmPage): string {
  const { title } = WEBHOOK_TEXTS[page.view.locale.language].confirm[page.action];
  return renderDeveloperPage(page.view, { title, section: 'webhooks', live: 'none', children: <Confirm {...page} /> });
}

function Confirm({ view, endpoint, action, rejection, ping }: EndpointConfirmPage): ReactElement {
  const { confirm, columns, form } = WEBHOOK_TEXTS[view.locale.language];
  const back = view.paths.webhook(endpoint.id);
  const isDanger = action === 'delete' || action === 'disable';
  return (
    <div className="narrow">
      <PageHead title={confirm[action].title} back={{ href: back, label: originOf(endpoint.url) }} />
      <div className="stack">
        {ping && <PingResult view={view} ping={ping} />}
        <Card>
          <Facts
            facts={[
              { name: columns.url, value: <code className="breakable">{endpoint.url}</code> },
              { name: columns.events, value: eventsText(view, endpoint) },
              { name: columns.pending, value: pendingText(endpoint) },
            ]}
          />
        </Card>
        <p className="text">{confirm[action].text}</p>
        {action === 'rotate' ? (
          <RotateForm view={view} endpoint={endpoint} rejection={rejection} back={back} />
        ) : (
          <ConfirmForm
            action={view.paths.webhookAction(endpoint.id, action)}
            label={confirm[action].button}
            tone={isDanger ? 'danger' : 'primary'}
            fields={{ form_id: randomUUID() }}
            rejection={rejection}
          >
            <a className="button wide-button" href={back}>
              {form.cancel}
            </a>
          </ConfirmForm>
        )}
      </div>
    </div>
  );
}

interface RotateFormProps extends Pick<EndpointConfirmPage, 'view' | 'endpoint' | 'rejection'> {
  readonly back: string;
}

function RotateForm({ view, endpoint, rejection, back }: RotateFormProps): ReactElement {
  const { rotate, confirm, form } = WEBHOOK_TEXTS[view.locale.language];
  const overlaps = SECRET_OVERLAPS.map((name) => ({ name, label: rotate.overlaps[name], isChosen: name === '24' }));
  return (
    <form className="stack" method="post" action={view.paths.webhookAction(endpoint.id, 'rotate')}>
      <input type="hidden" name="form_id" value={randomUUID()} />
      {rejection !== null && <p className="notice warning">{rejection}</p>}
      <Choices name="overlap" kind="radio" label={rotate.overlap} choices={overlaps} />
      <div className="buttons">
        <button className="button primary wide-button" disabled={rejection !== null}>
          {confirm.rotate.button}
        </button>
        <a className="button wide-button" href={back}>
          {form.cancel}
        </a>
      </div>
    </form>
  );
}

function PingResult({ view, ping }: { readonly view: MerchantView; readonly ping: PingReport }): ReactElement {
  const texts = WEBHOOK_TEXTS[view.locale.language].ping;
  const { failure, statusCode, durationMs, responseExcerpt } = ping;
  return (
    <>
      <Notice tone={failure === null ? 'good' : 'bad'}>
        <p>{failure === null ? texts.delivered : texts.failed}</p>
      </Notice>
      <Card>
        <Facts
          facts={[
            { name: texts.status, value: statusCode ?? texts.none },
            { name: texts.duration, value: `${durationMs} ms` },
            ...(failure === null ? [] : [{ name: texts.failure, value: failure }]),
            {
              name: texts.response,
              value: (
                <code className="breakable">
                  {responseExcerpt === null || responseExcerpt === '' ? '–' : responseExcerpt}
                </code>
              ),
            },
          ]}
        />
      </Card>
    </>
  );
}
