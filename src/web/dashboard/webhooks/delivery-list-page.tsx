import type { ReactElement } from 'react';
import { WEBHOOK_EVENTS } from '../../../domain/events';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { Select } from '../../ui/select';
import { EmptyState, Pager } from '../../ui/table';
import { Time } from '../../ui/values';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { DELIVERY_STATES, DeliveryTable, versionOfDeliveries, type ShownDelivery } from './delivery-table';
import { DELIVERY_TEXTS } from './delivery-texts';

interface FilteredEndpoint {
  readonly id: string;
  readonly origin: string;
  readonly failingSince: Date | null;
}

interface DeliveryListPage {
  readonly view: MerchantView;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly deliveries: readonly ShownDelivery[];
  readonly endpoints: readonly FilteredEndpoint[];
  /** The query of the neighbouring pages; null: there is none. */
  readonly newer: SentFields | null;
  readonly older: SentFields | null;
  /** Whether only 2,000 deliveries were compared with the filter. */
  readonly isCut: boolean;
  /** How many of a range are sent again, after its form. */
  readonly redelivered: number | undefined;
}

export function renderDeliveryListPage(page: DeliveryListPage): string {
  const { title } = DELIVERY_TEXTS[page.view.locale.language];
  const isFirst = page.newer === null && Object.keys(page.errors).length === 0;
  return renderDeveloperPage(page.view, {
    title,
    section: 'deliveries',
    live: isFirst ? 'poll' : 'none',
    children: <DeliveryList {...page} />,
  });
}

function DeliveryList(page: DeliveryListPage): ReactElement {
  const { view, sent, errors, deliveries, newer, older, redelivered } = page;
  const texts = DELIVERY_TEXTS[view.locale.language];
  const { paths } = view;
  return (
    <>
      <PageHead title={texts.title}>
        {sent.status === 'dead' && view.rightRejection('developers', 'manage') === null && (
          <a className="button" href={paths.redeliverRange({ from: sent.from, to: sent.to })}>
            {texts.range.link}
          </a>
        )}
      </PageHead>
      <div className="stack">
        {redelivered !== undefined && (
          <Notice tone="good">
            <p>{texts.redelivered(String(redelivered))}</p>
          </Notice>
        )}
        <ErrorSummary title={texts.errorTitle} errors={errors} />
        <Failing {...page} />
        <Filters {...page} />
        {page.isCut && (
          <Notice tone="info">
            <p>{texts.searched}</p>
          </Notice>
        )}
        <Card part="deliveries" version={versionOfDeliveries(deliveries)}>
          <DeliveryTable view={view} deliveries={deliveries} hasEndpoint empty={<Empty {...page} />} />
          <Pager
            newer={newer && paths.deliveryList(newer)}
            older={older && paths.deliveryList(older)}
            texts={texts.pager}
          />
        </Card>
      </div>
    </>
  );
}

/** Why deliveries wait: the endpoints that fail now, of those that are shown. */
function Failing({ view, sent, endpoints }: DeliveryListPage): ReactElement | null {
  const { endpointFails } = DELIVERY_TEXTS[view.locale.language];
  const failing = endpoints.filter(({ id }) => sent.endpoint === undefined || sent.endpoint === id);
  const rows = failing.flatMap(({ id, origin, failingSince }) => (failingSince ? [{ id, origin, failingSince }] : []));
  if (rows.length === 0) return null;
  return (
    <Notice tone="warning">
      {rows.map(({ id, origin, failingSince }) => (
        <p key={id} className="breakable">
          <a href={view.paths.webhook(id)}>{origin}</a> {endpointFails}{' '}
          <Time at={failingSince} style="full" locale={view.locale} />
        </p>
      ))}
    </Notice>
  );
}

function Empty({ view, sent }: DeliveryListPage): ReactElement {
  const texts = DELIVERY_TEXTS[view.locale.language];
  if (Object.keys(sent).length === 0) return <EmptyState text={texts.nothing} />;
  return (
    <EmptyState text={texts.noMatch}>
      <a className="button" href={view.paths.deliveries}>
        {texts.clear}
      </a>
    </EmptyState>
  );
}

function Filters({ view, sent, errors, endpoints }: DeliveryListPage): ReactElement {
  const { filter, statuses, apply } = DELIVERY_TEXTS[view.locale.language];
  const any = { value: '', label: filter.any };
  const states = [any, ...DELIVERY_STATES.map((state) => ({ value: state, label: statuses[state] }))];
  const events = [any, ...WEBHOOK_EVENTS.map((event) => ({ value: event, label: event }))];
  const receivers = [any, ...endpoints.map(({ id, origin }) => ({ value: id, label: origin }))];
  return (
    <form className="filter" method="get" action={view.paths.deliveries}>
      <Select name="status" label={filter.status} value={sent.status ?? ''} options={states} error={errors.status} />
      <Select name="event" label={filter.event} value={sent.event ?? ''} options={events} error={errors.event} />
      <Select
        name="endpoint"
        label={filter.endpoint}
        value={sent.endpoint ?? ''}
        options={receivers}
        error={errors.endpoint}
      />
      <Field name="from" label={filter.from} type="date" value={sent.from ?? ''} error={errors.from} />
      <Field name="to" label={filter.to} type="date" value={sent.to ?? ''} error={errors.to} />
      <button className="button">{apply}</button>
    </form>
  );
}
