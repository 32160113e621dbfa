import type { ReactElement, ReactNode } from 'react';
import type { BalanceTransactionKind } from '../../../domain/balance';
import { WIB } from '../../ui/format';
import { Table, type Column } from '../../ui/table';
import { SignedMoney, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { paymentPagePath } from '../payments/payment-paths';
import { payoutPagePath } from '../payouts/payout-paths';
import { BALANCE_TEXTS } from './balance-texts';

/** A change of the balance as the pages show it. */
export interface ShownLine {
  readonly postingId: number;
  readonly occurredAt: Date;
  readonly kind: BalanceTransactionKind;
  readonly amountRupiah: number;
  readonly referenceId: string | null;
}

interface LineTableProps<Line extends ShownLine> {
  readonly view: MerchantView;
  readonly lines: readonly Line[];
  readonly timeStyle: 'short' | 'full';
  /** Columns that stand after the amount. */
  readonly more?: readonly Column<Line>[];
  readonly empty: ReactNode;
}

/** Changes of the balance. Times are in WIB, as the days of a statement. */
export function LineTable<Line extends ShownLine>(props: LineTableProps<Line>): ReactElement {
  const { view, lines, timeStyle, more = [], empty } = props;
  const texts = BALANCE_TEXTS[view.locale.language];
  const locale = { ...view.locale, zone: WIB };
  const columns: Column<Line>[] = [
    {
      title: texts.columns.time,
      narrow: 'second',
      cell: ({ occurredAt }) => <Time at={occurredAt} style={timeStyle} locale={locale} />,
    },
    { title: texts.columns.kind, narrow: 'first-end', cell: ({ kind }) => texts.kinds[kind] },
    { title: texts.columns.reference, narrow: 'second-end', cell: (line) => <Reference view={view} line={line} /> },
    {
      title: texts.columns.amount,
      narrow: 'first',
      className: 'number strong',
      cell: ({ amountRupiah }) => <SignedMoney rupiah={amountRupiah} />,
    },
    ...more,
  ];
  return (
    <Table
      caption={texts.linesCaption}
      columns={columns}
      rows={lines}
      keyOf={({ postingId }) => String(postingId)}
      empty={empty}
    />
  );
}

interface ReferenceProps {
  readonly view: MerchantView;
  readonly line: ShownLine;
}

function Reference({ view: { code }, line: { kind, referenceId } }: ReferenceProps): ReactElement {
  if (referenceId === null) return <span className="dim">–</span>;
  if (kind === 'fee_credit') return <code>{referenceId}</code>;
  const path = kind.startsWith('payout') ? payoutPagePath : paymentPagePath;
  return (
    <a href={path.to({ code, ref: referenceId })}>
      <code>{referenceId}</code>
    </a>
  );
}
