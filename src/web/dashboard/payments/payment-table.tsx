import type { ReactElement, ReactNode } from 'react';
import { RECEIVED_STATUSES, type PaymentStatus } from '../../../domain/payment-transitions';
import { Chip } from '../../ui/chip';
import { Table, type Column } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { newPaymentPath, paymentPagePath } from './payment-paths';

/** A payment in a list. */
export interface ListedPayment {
  readonly referenceId: string;
  readonly merchantReferenceId: string | null;
  readonly totalRupiah: number;
  readonly netRupiah: number;
  readonly status: PaymentStatus;
  readonly createdAt: Date;
}

interface PaymentTableProps {
  readonly view: MerchantView;
  readonly payments: readonly ListedPayment[];
  readonly empty: ReactNode;
}

export function PaymentTable({ view, payments, empty }: PaymentTableProps): ReactElement {
  return (
    <Table
      caption={view.texts.list.caption}
      columns={columnsOf(view)}
      rows={payments}
      keyOf={({ referenceId }) => referenceId}
      empty={empty}
    />
  );
}

/** The columns that each list of payments has. */
export function paymentColumns({ texts, code }: MerchantView) {
  const { columns } = texts.list;
  return {
    net: {
      title: columns.net,
      narrow: 'hidden',
      className: 'number',
      cell: ({ status, netRupiah }) =>
        RECEIVED_STATUSES.includes(status) ? <Money rupiah={netRupiah} /> : <span className="dim">–</span>,
    },
    total: {
      title: columns.total,
      narrow: 'first',
      className: 'number strong',
      cell: ({ referenceId, totalRupiah }) => (
        <a className="row-link" href={paymentPagePath.to({ code, ref: referenceId })}>
          <Money rupiah={totalRupiah} />
        </a>
      ),
    },
    status: {
      title: columns.status,
      narrow: 'first-end',
      cell: ({ status }) => <Chip status={status} label={texts.statuses[status]} />,
    },
  } as const satisfies Readonly<Record<string, Column<ListedPayment>>>;
}

function columnsOf(view: MerchantView): Column<ListedPayment>[] {
  const { texts, locale } = view;
  const { columns } = texts.list;
  const { net, total, status } = paymentColumns(view);
  return [
    {
      title: columns.order,
      narrow: 'second-end',
      className: 'clipped strong',
      cell: ({ merchantReferenceId }) => merchantReferenceId ?? <span className="dim">–</span>,
    },
    {
      title: columns.reference,
      narrow: 'hidden',
      className: 'dim',
      cell: ({ referenceId }) => <code>{referenceId}</code>,
    },
    {
      title: columns.time,
      narrow: 'second',
      cell: ({ createdAt }) => <Time at={createdAt} style="short" locale={locale} />,
    },
    net,
    total,
    status,
  ];
}

/** Changes with each payment and status in the table. */
export function versionOfTable(payments: readonly ListedPayment[]): string {
  return payments.map(({ referenceId, status }) => `${referenceId}${status}`).join();
}

/** The way to a new payment, for those who may create one. */
export function NewPaymentLink({ view }: { readonly view: MerchantView }): ReactElement | null {
  if (view.rightRejection('payments', 'manage') !== null) return null;
  return (
    <a className="button primary" href={newPaymentPath.to(view)}>
      {view.texts.newPayment}
    </a>
  );
}
