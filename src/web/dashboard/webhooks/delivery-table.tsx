import type { ReactElement, ReactNode } from 'react';
import type { WebhookEvent } from '../../../domain/events';
import { StateChip, type Tone } from '../../ui/chip';
import { Table, type Column } from '../../ui/table';
import { Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { DELIVERY_TEXTS, type DeliveryTexts } from './delivery-texts';
import { originOf } from './endpoint-parts';
import { deliveryPath } from './webhook-paths';

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const TONES = { pending: 'open', delivered: 'good', dead: 'bad' } as const satisfies Record<DeliveryState, Tone>;

export interface ShownDelivery {
  readonly id: string;
  readonly createdAt: Date;
  readonly event: WebhookEvent;
  readonly referenceId: string;
  readonly url: string;
  readonly status: DeliveryState;
  readonly deadReason: keyof DeliveryTexts['deadReasons'] | null;
  readonly attempts: number;
  readonly statusCode: number | null;
  readonly failure: string | null;
}

interface DeliveryChipProps {
  readonly view: MerchantView;
  readonly status: DeliveryState;
}

export function DeliveryChip({ view, status }: DeliveryChipProps): ReactElement {
  return <StateChip tone={TONES[status]} label={DELIVERY_TEXTS[view.locale.language].statuses[status]} />;
}

/** The version differs when the table does. */
export function versionOfDeliveries(deliveries: readonly ShownDelivery[]): string {
  return deliveries.map(({ id, status, attempts }) => `${id}${status}${attempts}`).join();
}

interface DeliveryTableProps {
  readonly view: MerchantView;
  readonly deliveries: readonly ShownDelivery[];
  /** Whether they are of several endpoints. */
  readonly hasEndpoint?: boolean;
  readonly empty: ReactNode;
}

export function DeliveryTable({ view, deliveries, hasEndpoint = false, empty }: DeliveryTableProps): ReactElement {
  const columns = columnsOf(view);
  const { endpoint } = DELIVERY_TEXTS[view.locale.language].columns;
  return (
    <Table
      caption={DELIVERY_TEXTS[view.locale.language].caption}
      columns={hasEndpoint ? columns : columns.filter(({ title }) => title !== endpoint)}
      rows={deliveries}
      keyOf={({ id }) => id}
      empty={empty}
    />
  );
}

function columnsOf(view: MerchantView): Column<ShownDelivery>[] {
  const { columns } = DELIVERY_TEXTS[view.locale.language];
  return [
    {
      title: columns.time,
      narrow: 'second',
      className: 'unbroken',
      cell: ({ createdAt }) => <Time at={createdAt} style="short" locale={view.locale} />,
    },
    {
      title: columns.event,
      narrow: 'first',
      className: 'strong',
      cell: (delivery) => (
        <>
          <a className="row-link" href={deliveryPath.to({ code: view.code, delivery: delivery.id })}>
            {delivery.event}
          </a>
          <Result view={view} delivery={delivery} />
        </>
      ),
    },
    {
      title: columns.reference,
      narrow: 'second-end',
      className: 'reference',
      cell: ({ referenceId }) => <code>{referenceId}</code>,
    },
    {
      title: columns.endpoint,
      narrow: 'hidden',
      className: 'origin clipped wide-only',
      cell: ({ url }) => originOf(url),
    },
    {
      title: columns.attempts,
      narrow: 'hidden',
      className: 'number count-of-attempts',
      cell: ({ attempts }) => attempts,
    },
    { title: columns.status, narrow: 'first-end', cell: ({ status }) => <DeliveryChip view={view} status={status} /> },
  ];
}

interface ResultProps {
  readonly view: MerchantView;
  readonly delivery: ShownDelivery;
}

/** Why it is dead, or what the last attempt of one that waits returned. */
function Result({ view, delivery: { deadReason, failure, statusCode } }: ResultProps): ReactElement | null {
  const { deadReasons } = DELIVERY_TEXTS[view.locale.language];
  const result = deadReason === null ? (failure ?? statusCode) : deadReasons[deadReason];
  return result === null ? null : <span className="under dim result">{result}</span>;
}
