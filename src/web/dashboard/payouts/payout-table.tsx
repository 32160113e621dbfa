import type { ReactElement, ReactNode } from 'react';
import { describeAccount } from '../../../domain/banks';
import { Table, type Column } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { PayoutChip, requesterOf, type ListedPayout } from './payout-parts';
import { payoutPagePath } from './payout-paths';
import { PAYOUT_TEXTS } from './payout-texts';

interface PayoutTableProps {
  readonly view: MerchantView;
  readonly payouts: readonly ListedPayout[];
  readonly empty: ReactNode;
}

export function PayoutTable({ view, payouts, empty }: PayoutTableProps): ReactElement {
  const { caption } = PAYOUT_TEXTS[view.locale.language];
  return <Table caption={caption} columns={columnsOf(view)} rows={payouts} keyOf={({ id }) => id} empty={empty} />;
}

function columnsOf(view: MerchantView): Column<ListedPayout>[] {
  const { columns, approved } = PAYOUT_TEXTS[view.locale.language];
  return [
    {
      title: columns.time,
      narrow: 'second',
      cell: ({ requestedAt }) => <Time at={requestedAt} style="short" locale={view.locale} />,
    },
    { title: columns.reference, narrow: 'hidden', cell: ({ referenceId }) => <code>{referenceId}</code> },
    {
      title: columns.account,
      narrow: 'second-end',
      cell: ({ bankCode, lastFour }) => describeAccount(bankCode, lastFour),
    },
    {
      title: columns.requestedBy,
      narrow: 'hidden',
      className: 'clipped',
      cell: (row) => (
        <>
          {requesterOf(view, row)}
          {row.approverName !== null && <span className="dim small under">{approved(row.approverName)}</span>}
        </>
      ),
    },
    {
      title: columns.fee,
      narrow: 'hidden',
      className: 'number',
      cell: ({ feeRupiah }) => <Money rupiah={feeRupiah} />,
    },
    {
      title: columns.amount,
      narrow: 'first',
      className: 'number strong',
      cell: ({ referenceId, amountRupiah }) => (
        <a className="row-link" href={payoutPagePath.to({ ...view, ref: referenceId })}>
          <Money rupiah={amountRupiah} />
        </a>
      ),
    },
    { title: columns.status, narrow: 'first-end', cell: ({ status }) => <PayoutChip view={view} status={status} /> },
  ];
}
