import type { ReactElement } from 'react';
import type { PaymentEvent } from '../../../domain/events';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, Notice, PageHead } from '../../ui/layout';
import { Id, Time } from '../../ui/values';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { DeliveryChip, type DeliveryState } from './delivery-list-page';
import { DELIVERY_TEXTS, type DeliveryTexts } from './delivery-texts';

interface ShownAttempt {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly failure: string | null;
  readonly responseExcerpt: string | null;
}

interface DetailedDelivery {
  readonly id: string;
  readonly event: PaymentEvent;
  readonly body: string;
  readonly headers: string;
  readonly referenceId: string;
  readonly origin: string;
  readonly status: DeliveryState;
  readonly deadReason: keyof DeliveryTexts['deadReasons'] | null;
  readonly createdAt: Date;
  readonly attempts: readonly ShownAttempt[];
}

interface DeliveryPage {
  readonly view: MerchantView;
  readonly delivery: DetailedDelivery;
  /** Why it cannot be redelivered; null if it can. */
  readonly rejection: string | null;
  readonly isDone: boolean;
}

export function renderDeliveryPage(page: DeliveryPage): string {
  return renderDeveloperPage(page.view, {
    title: page.delivery.event,
    section: 'deliveries',
    live: page.delivery.status === 'pending' ? 'poll' : 'none',
    children: <Delivery {...page} />,
  });
}

function Delivery({ view, delivery, rejection, isDone }: DeliveryPage): ReactElement {
  const texts = DELIVERY_TEXTS[view.locale.language];
  const { columns, detail } = texts;
  const { id, referenceId, status, deadReason, attempts } = delivery;
  return (
    <div className="narrow">
      <PageHead title={delivery.event} back={{ href: view.paths.deliveries, label: texts.title }} />
      <div className="stack">
        {isDone && (
          <Notice tone="good">
            <p>{texts.done.redelivered}</p>
          </Notice>
        )}
        <Card part="delivery" version={`${status}${attempts.length}`}>
          <div className="card-body">
            <p>
              <DeliveryChip view={view} status={status} /> {deadReason && texts.deadReasons[deadReason]}
            </p>
            <ConfirmForm
              action={view.paths.redeliver(id)}
              label={detail.redeliver}
              tone="primary"
              rejection={rejection ?? view.rightRejection('developers', 'manage')}
            />
          </div>
          <Facts
            facts={[
              { name: columns.payment, value: <a href={view.paths.payment(referenceId)}>{referenceId}</a> },
              { name: columns.endpoint, value: <span className="breakable">{delivery.origin}</span> },
              { name: detail.created, value: <Time at={delivery.createdAt} style="full" locale={view.locale} /> },
              { name: 'Id', value: <Id value={id} copy={view.texts.copy} /> },
            ]}
          />
        </Card>
        <Attempts view={view} attempts={attempts} />
        <Text title={detail.headers} text={delivery.headers} />
        <Text title={detail.body} text={delivery.body} />
      </div>
    </div>
  );
}

interface AttemptsProps {
  readonly view: MerchantView;
  readonly attempts: readonly ShownAttempt[];
}

/** The excerpts come from strangers: they are text, never markup. */
function Attempts({ view, attempts }: AttemptsProps): ReactElement {
  const { detail } = DELIVERY_TEXTS[view.locale.language];
  return (
    <Card title={detail.attempts} part="attempts" version={String(attempts.length)}>
      <div className="card-body">
        {attempts.length === 0 && <p className="dim">{detail.noAttempts}</p>}
        {attempts.map(({ number, startedAt, durationMs, statusCode, failure, responseExcerpt }) => (
          <div key={number}>
            <p className="breakable">
              <Time at={new Date(startedAt)} style="full" locale={view.locale} />{' '}
              {detail.attempt(number, failure ?? String(statusCode ?? detail.noResponse), durationMs)}
            </p>
            {responseExcerpt !== null && responseExcerpt !== '' && (
              <p>
                <code className="breakable">{responseExcerpt}</code>
              </p>
            )}
          </div>
        ))}
      </div>
    </Card>
  );
}

function Text({ title, text }: { readonly title: string; readonly text: string }): ReactElement {
  return (
    <Card title={title}>
      <div className="card-body">
        <div className="copied-text">
          <pre role="group" aria-label={title}>
            <code>{text}</code>
          </pre>
        </div>
      </div>
    </Card>
  );
}
