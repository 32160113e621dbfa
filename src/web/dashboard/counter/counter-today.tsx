import type { ReactElement } from 'react';
import { Chip } from '../../ui/chip';
import { Card } from '../../ui/layout';
import { EmptyState, Table, type Column } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { qrPath } from '../payments/payment-paths';
import { versionOfTable, type ListedPayment } from '../payments/payment-table';
import { COUNTER_TEXTS } from './counter-texts';

/** What the member did today. */
export interface TakenToday {
  /** What customers have paid. */
  readonly sum: { readonly payments: number; readonly totalRupiah: number };
  /** The newest. */
  readonly payments: readonly ListedPayment[];
}

/** Both parts are read again while the page is open. */
export function CounterToday({ view, sum, payments }: TakenToday & { readonly view: MerchantView }): ReactElement {
  const texts = COUNTER_TEXTS[view.locale.language];
  return (
    <div className="stack">
      <div data-part="sum" data-version={`${sum.payments} ${sum.totalRupiah}`} className="card today">
        <p className="dim">{texts.today(sum.payments)}</p>
        <b>
          <Money rupiah={sum.totalRupiah} />
        </b>
      </div>
      <Card title={texts.last} part="payments" version={versionOfTable(payments)}>
        <Table
          caption={texts.last}
          columns={columnsOf(view)}
          rows={payments}
          keyOf={({ referenceId }) => referenceId}
          empty={<EmptyState icon="counter" text={texts.none} />}
        />
      </Card>
    </div>
  );
}

/** A tap leads back to the code, or to what became of it. */
function columnsOf({ texts, locale, code }: MerchantView): readonly Column<ListedPayment>[] {
  const { columns } = texts.list;
  return [
    {
      title: columns.time,
      narrow: 'second',
      cell: ({ createdAt }) => <Time at={createdAt} style="time" locale={locale} />,
    },
    {
      title: columns.total,
      narrow: 'first',
      className: 'number strong',
      cell: ({ referenceId, totalRupiah }) => (
        <a className="row-link" href={qrPath.to({ code, ref: referenceId }, { from: 'counter' })}>
          <Money rupiah={totalRupiah} />
        </a>
      ),
    },
    {
      title: columns.status,
      narrow: 'first-end',
      cell: ({ status }) => <Chip status={status} label={texts.statuses[status]} />,
    },
  ];
}
