import { randomUUID } from 'node:crypto';
import type { ReactElement } from 'react';
import { z } from 'zod';
import { rolesReadingEvents } from '../../../domain/member-roles';
import { SUBJECT_ID_NAMES } from '../../../domain/subject';
import type { EndpointResponse } from '../../../http/endpoint';
import { findOwnDelivery, type OwnDelivery } from '../../../services/webhooks/own-deliveries';
import { redeliver } from '../../../services/webhooks/redeliver';
import { redeliveryRejection } from '../../../services/webhooks/webhook-redelivery';
import { orNoPage } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import { ConfirmForm } from '../../ui/form';
import { Card, DoneNotice, Facts, PageHead, type Fact } from '../../ui/layout';
import { Id, Time } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderDeveloperPage } from '../developer-page';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { paymentPagePath } from '../payments/payment-paths';
import { memberActor } from '../user-identity';
import { Attempts, Text } from './delivery-parts';
import { DeliveryChip } from './delivery-table';
import { DELIVERY_TEXTS, type DeliveryTexts } from './delivery-texts';
import { originOf } from './endpoint-parts';
import { deliveriesPath, deliveryPath, endpointPath, redeliverPath } from './webhook-paths';

type DeliveryDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const showDeliveryPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: deliveryPath.pattern,
    fields: z.object({ done: z.enum(['redelivered']).optional().catch(undefined) }),
    handler: async (dependencies: DeliveryDependencies, visit, query) =>
      deliveryPage(dependencies, visit, 200, query.ok && query.values.done !== undefined),
  },
);

/** The button of the page. A delivery that cannot be redelivered has its page again, with the reason. */
const redeliverByForm = memberPage(
  { area: 'developers', level: 'manage' },
  {
    method: 'post',
    path: redeliverPath.pattern,
    fields: NO_FIELDS,
    async handler(dependencies: DeliveryDependencies, visit) {
      const { delivery } = redeliverPath.read(visit.request.params);
      const call = { path: { deliveries: [delivery] }, input: {}, formId: randomUUID() };
      const { outcome } = await redeliver.run(dependencies, memberActor(visit), call).catch(orNoPage);
      if (outcome !== 'done') return deliveryPage(dependencies, visit, 409);
      return redirectTo(deliveryPath.to({ code: visit.member.merchantCode, delivery }, { done: 'redelivered' }));
    },
  },
);

export const deliveryPages = [showDeliveryPage, redeliverByForm];

async function deliveryPage(
  dependencies: DeliveryDependencies,
  visit: MemberVisit,
  status: number,
  isDone = false,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const id = deliveryPath.read(visit.request.params).delivery;
  const delivery = await findOwnDelivery(dependencies.db, visit.member.merchantId, id).catch(orNoPage);
  const readers = rolesReadingEvents(delivery.kind);
  const bodyRejection = readers.includes(visit.member.role) ? null : view.onlyRoles(readers);
  const children = <Delivery view={view} delivery={delivery} bodyRejection={bodyRejection} isDone={isDone} />;
  const live = delivery.status === 'pending' ? 'poll' : 'none';
  return pageResponse(
    renderDeveloperPage(view, { title: delivery.event, section: 'deliveries', live, children }),
    status,
  );
}

/** Why the button is disabled; null: it is not. */
function rejectionOf(view: MerchantView, delivery: OwnDelivery): string | null {
  const reason = redeliveryRejection(delivery);
  if (reason !== null) return DELIVERY_TEXTS[view.locale.language].rejections[reason];
  return merchantRejection(view) ?? view.rightRejection('developers', 'manage');
}

interface DeliveryProps {
  readonly view: MerchantView;
  readonly delivery: OwnDelivery;
  /** Why the member may not read the body; null: they may. */
  readonly bodyRejection: string | null;
  readonly isDone: boolean;
}

function Delivery({ view, delivery, bodyRejection, isDone }: DeliveryProps): ReactElement {
  const texts = DELIVERY_TEXTS[view.locale.language];
  const { id, status, deadReason, attempts, failingSince } = delivery;
  return (
    <div className="narrow">
      <PageHead title={delivery.event} back={{ href: deliveriesPath.to(view), label: texts.title }}>
        <DeliveryChip view={view} status={status} />
      </PageHead>
      <div className="stack">
        <DoneNotice text={isDone && texts.done.redelivered} />
        <Card part="delivery" version={`${status}${attempts.length}${failingSince?.getTime()}`}>
          <div className="card-body">
            {deadReason && <p>{texts.deadReasons[deadReason]}</p>}
            <Failing view={view} delivery={delivery} />
            {status === 'pending' ? (
              <p className="dim">{texts.rejections.pending}</p>
            ) : (
              <ConfirmForm
                action={redeliverPath.to({ code: view.code, delivery: id })}
                label={texts.detail.redeliver}
                tone="primary"
                rejection={rejectionOf(view, delivery)}
              />
            )}
          </div>
          <Facts facts={factsOf(view, delivery)} />
        </Card>
        <Attempts view={view} attempts={attempts} />
        <Text title={texts.detail.headers} text={headersOf(delivery)} />
        {bodyRejection === null ? (
          <Text title={bodyTitle(texts, delivery)} text={prettyBody(delivery.body)} />
        ) : (
          <Card title={texts.detail.body}>
            <p className="card-body dim">{bodyRejection}</p>
          </Card>
        )}
      </div>
    </div>
  );
}

/** The others have no page that everybody who sees deliveries may view, and endpoints add nothing to their bodies. */
const isOfPayment = ({ kind }: OwnDelivery): boolean => SUBJECT_ID_NAMES[kind] === 'payment';

/** What the endpoint adds may be personal data, so that the page does not show it. */
function bodyTitle({ detail }: DeliveryTexts, delivery: OwnDelivery): string {
  const added = isOfPayment(delivery) ? delivery.expand : [];
  return added.length === 0 ? detail.body : detail.contractBody(added.join(', '));
}

/** Whether its endpoint fails now, which is why it waits or is dead. */
function Failing({ view, delivery }: Pick<DeliveryProps, 'view' | 'delivery'>): ReactElement | null {
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

function factsOf(view: MerchantView, delivery: OwnDelivery): Fact[] {
  const { columns, detail } = DELIVERY_TEXTS[view.locale.language];
  const { id, referenceId, endpointId, isEndpointDeleted } = delivery;
  const origin = originOf(delivery.url);
  const path = endpointPath.to({ code: view.code, endpoint: endpointId });
  const endpoint = isEndpointDeleted ? origin : <a href={path}>{origin}</a>;
  const payment = <a href={paymentPagePath.to({ ...view, ref: referenceId })}>{referenceId}</a>;
  return [
    { name: columns.reference, value: isOfPayment(delivery) ? payment : <code>{referenceId}</code> },
    { name: columns.endpoint, value: <span className="breakable">{endpoint}</span> },
    { name: detail.created, value: <Time at={delivery.createdAt} style="full" locale={view.locale} /> },
    { name: detail.id, value: <Id value={id} copy={view.texts.copy} /> },
  ];
}

function prettyBody(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}

/** The headers that were sent, without signature and timestamp, which differ in each attempt. */
function headersOf({ id, event }: OwnDelivery): string {
  return [
    'Content-Type: application/json',
    `X-Service-Event: ${event}`,
    `X-Service-Delivery: ${id}`,
    `webhook-id: ${id}`,
  ].join('\n');
}
