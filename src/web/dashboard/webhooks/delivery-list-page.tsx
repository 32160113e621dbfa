import type { ReactElement } from 'react';
import { PAYMENT_EVENTS, type PaymentEvent } from '../../../domain/events';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { StateChip, type Tone } from '../../ui/chip';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { EmptyState, Pager, Table, type Column } from '../../ui/table';
import { Time } from '../../ui/values';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { DELIVERY_TEXTS } from './delivery-texts';
import { originOf } from './endpoint-parts';

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const TONES = { pending: 'open', delivered: 'good', dead: 'bad' } as const satisfies Record<DeliveryState, Tone>;

export interface ShownDelivery {
  readonly id: string;
  readonly createdAt: Date;
  readonly event: PaymentEvent;
  readonly referenceId: string;
  readonly url: string;
  readonly status: DeliveryState;
  readonly attempts: number;
  readonly statusCode: number | null;
  readonly failure: string | null;
}

interface DeliveryListPage {
  readonly view: MerchantView;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly deliveries: readonly ShownDelivery[];
  readonly endpoints: readonly { readonly id: string; readonly origin: string }[];
  readonly older: SentFields | null;
  /** Of a range that was just redelivered. */
  readonly redelivered: number | undefined;
}

export function DeliveryChip({
  view,
  status,
}: {
  readonly view: MerchantView;
  readonly status: DeliveryState;
}): ReactElement {
  return <StateChip tone={TONES[status]} label={DELIVERY_TEXTS[view.locale.language].statuses[status]} />;
}

export function renderDeliveryListPage(page: DeliveryListPage): string {
  const { title } = DELIVERY_TEXTS[page.view.locale.language];
  const isFirst = page.sent.older === undefined && Object.keys(page.errors).length === 0;
  return renderDeveloperPage(page.view, {
    title,
    section: 'deliveries',
    live: isFirst ? 'poll' : 'none',
    children: <DeliveryList {...page} />,
  });
}

function DeliveryList(page: DeliveryListPage): ReactElement {
  const { view, sent, errors, deliveries, older, redelivered } = page;
  const texts = DELIVERY_TEXTS[view.locale.language];
  const { paths } = view;
  const { older: _, ...filters } = sent;
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
        <Filters {...page} />
        <Card
          part="deliveries"
          version={deliveries.map(({ id, status, attempts }) => `${id}${status}${attempts}`).join()}
        >
          <Table
            caption={texts.caption}
            columns={columnsOf(view)}
            rows={deliveries}
            keyOf={({ id }) => id}
            empty={<EmptyState text={texts.nothing} />}
          />
          <Pager
            newer={sent.older === undefined ? null : paths.deliveryList(filters)}
            older={older && paths.deliveryList(older)}
            texts={texts.pager}
          />
        </Card>
      </div>
    </>
  );
}

function Filters({ view, sent, errors, endpoints }: DeliveryListPage): ReactElement {
  const { filter, statuses, apply } = DELIVERY_TEXTS[view.locale.language];
  const states = DELIVERY_STATES.map((state) => ({ value: state, label: statuses[state] }));
  const events = PAYMENT_EVENTS.map((event) => ({ value: event, label: event }));
  const receivers = endpoints.map(({ id, origin }) => ({ value: id, label: origin }));
  return (
    <form className="filter" method="get" action={view.paths.deliveries}>
      <Select name="status" label={filter.status} any={filter.any} chosen={sent.status} options={states} />
      <Select name="event" label={filter.event} any={filter.any} chosen={sent.event} options={events} />
      <Select name="endpoint" label={filter.endpoint} any={filter.any} chosen={sent.endpoint} options={receivers} />
      <Field name="from" label={filter.from} type="date" value={sent.from ?? ''} error={errors.from} />
      <Field name="to" label={filter.to} type="date" value={sent.to ?? ''} error={errors.to} />
      <button className="button">{apply}</button>
    </form>
  );
}

interface SelectProps {
  readonly name: string;
  readonly label: string;
  readonly any: string;
  readonly chosen: string | undefined;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

function Select({ name, label, any, chosen, options }: SelectProps): ReactElement {
  return (
    <div className="field">
      <label htmlFor={name}>{label}</label>
      <select id={name} name={name} defaultValue={chosen ?? ''}>
        <option value="">{any}</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}

function columnsOf(view: MerchantView): Column<ShownDelivery>[] {
  const { columns } = DELIVERY_TEXTS[view.locale.language];
  return [
    {
      title: columns.time,
      narrow: 'second',
      cell: ({ createdAt }) => <Time at={createdAt} style="short" locale={view.locale} />,
    },
    {
      title: columns.event,
      narrow: 'first',
      className: 'strong',
      cell: ({ id, event }) => (
        <a className="row-link" href={view.paths.delivery(id)}>
          {event}
        </a>
      ),
    },
    { title: columns.payment, narrow: 'second-end', cell: ({ referenceId }) => <code>{referenceId}</code> },
    { title: columns.endpoint, narrow: 'hidden', className: 'clipped', cell: ({ url }) => originOf(url) },
    { title: columns.attempts, narrow: 'hidden', className: 'number', cell: ({ attempts }) => attempts },
    {
      title: columns.last,
      narrow: 'hidden',
      className: 'clipped',
      cell: ({ statusCode, failure }) => statusCode ?? failure ?? '–',
    },
    { title: columns.status, narrow: 'first-end', cell: ({ status }) => <DeliveryChip view={view} status={status} /> },
  ];
}
