import type { ReactElement } from 'react';
import type { WebhookEvent } from '../../../domain/events';
import type { Expansion } from '../../../domain/expansions';
import type { SubjectKind } from '../../../domain/subject';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { Id, Time } from '../../ui/values';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { DeliveryChip, type DeliveryState } from './delivery-table';
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
  readonly event: WebhookEvent;
  readonly body: string;
  readonly headers: string;
  readonly expand: readonly Expansion[];
  readonly kind: SubjectKind;
  readonly referenceId: string;
  readonly endpointId: string;
  readonly origin: string;
  readonly isEndpointDeleted: boolean;
  readonly failingSince: Date | null;
  readonly nextProbeAt: Date | null;
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
  const { id, status, deadReason, attempts, failingSince } = delivery;
  return (
    <div className="narrow">
      <PageHead title={delivery.event} back={{ href: view.paths.deliveries, label: texts.title }}>
        <DeliveryChip view={view} status={status} />
      </PageHead>
      <div className="stack">
        {isDone && (
          <Notice tone="good">
            <p>{texts.done.redelivered}</p>
          </Notice>
        )}
        <Card part="delivery" version={`${status}${attempts.length}${failingSince?.getTime()}`}>
          <div className="card-body">
            {deadReason && <p>{texts.deadReasons[deadReason]}</p>}
            <Failing view={view} delivery={delivery} />
            {status === 'pending' ? (
              <p className="dim">{texts.rejections.pending}</p>
            ) : (
              <ConfirmForm
                action={view.paths.redeliver(id)}
                label={texts.detail.redeliver}
                tone="primary"
                rejection={rejection ?? view.rightRejection('developers', 'manage')}
              />
            )}
          </div>
          <Facts facts={factsOf(view, delivery)} />
        </Card>
        <Attempts view={view} attempts={attempts} />
        <Text title={texts.detail.headers} text={delivery.headers} />
        <Text title={bodyTitle(texts, delivery)} text={delivery.body} />
      </div>
    </div>
  );
}

/** What the endpoint adds may be personal data, so that the page does not show it. */
function bodyTitle({ detail }: DeliveryTexts, { kind, expand }: DetailedDelivery): string {
  return kind === 'payout' || expand.length === 0 ? detail.body : detail.contractBody(expand.join(', '));
}

/** Whether its endpoint fails now, which is why it waits or is dead. */
function Failing({ view, delivery }: Pick<DeliveryPage, 'view' | 'delivery'>): ReactElement | null {
  const { endpointFails, nextProbe, endpoint } = DELIVERY_TEXTS[view.locale.language];
  const { failingSince, nextProbeAt, status } = delivery;
  if (failingSince === null || status === 'delivered') return null;
  return (
    <p>
      {endpoint} {endpointFails} <Time at={failingSince} style="full" locale={view.locale} />.
      {nextProbeAt && (
        <>
          {' '}
          {nextProbe}: <Time at={nextProbeAt} style="full" locale={view.locale} />.
        </>
      )}
    </p>
  );
}

function factsOf(view: MerchantView, delivery: DetailedDelivery): Fact[] {
  const { columns, detail } = DELIVERY_TEXTS[view.locale.language];
  const { id, kind, referenceId, endpointId, origin, isEndpointDeleted } = delivery;
  const endpoint = isEndpointDeleted ? origin : <a href={view.paths.webhook(endpointId)}>{origin}</a>;
  const payment = <a href={view.paths.payment(referenceId)}>{referenceId}</a>;
  return [
    { name: columns.reference, value: kind === 'payout' ? <code>{referenceId}</code> : payment },
    { name: columns.endpoint, value: <span className="breakable">{endpoint}</span> },
    { name: detail.created, value: <Time at={delivery.createdAt} style="full" locale={view.locale} /> },
    { name: detail.id, value: <Id value={id} copy={view.texts.copy} /> },
  ];
}

interface AttemptsProps {
  readonly view: MerchantView;
  readonly attempts: readonly ShownAttempt[];
}

/** The excerpts come from strangers: they are text, never markup. */
function Attempts({ view, attempts }: AttemptsProps): ReactElement {
  const { detail } = DELIVERY_TEXTS[view.locale.language];
  if (attempts.length === 0) {
    return (
      <Card title={detail.attempts} part="attempts" version="0">
        <p className="card-body dim">{detail.noAttempts}</p>
      </Card>
    );
  }
  return (
    <Card title={detail.attempts} part="attempts" version={String(attempts.length)}>
      <ol className="attempts">
        {attempts.map(({ number, startedAt, durationMs, statusCode, failure, responseExcerpt }) => (
          <li key={number}>
            <p className="attempt">
              <span className="breakable">
                {detail.attempt(number, failure ?? String(statusCode ?? detail.noResponse), durationMs)}
              </span>
              <span className="dim">
                <Time at={new Date(startedAt)} style="full" locale={view.locale} />
              </span>
            </p>
            {responseExcerpt !== null && responseExcerpt !== '' && (
              <div className="copied-text">
                <pre>
                  <code>{responseExcerpt}</code>
                </pre>
              </div>
            )}
          </li>
        ))}
      </ol>
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
