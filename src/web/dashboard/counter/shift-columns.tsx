import type { Column } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { paymentColumns, type ListedPayment } from '../payments/payment-table';
import { COUNTER_TEXTS } from './counter-texts';

/** A row of a shift. */
export interface ShiftPayment extends ListedPayment {
  /** What is in the balance; null: nothing yet. */
  readonly settledRupiah: number | null;
}

/** Who sees the balance also sees what of it is settled. */
export function shiftColumns(view: MerchantView, seesBalance: boolean): readonly Column<ShiftPayment>[] {
  const { texts, locale } = view;
  const { columns } = texts.list;
  const { net, total, status } = paymentColumns(view);
  const settled: Column<ShiftPayment> = {
    title: COUNTER_TEXTS[locale.language].shift.settled,
    narrow: 'hidden',
    className: 'number',
    cell: ({ settledRupiah }) =>
      settledRupiah === null ? <span className="dim">–</span> : <Money rupiah={settledRupiah} />,
  };
  return [
    {
      title: columns.order,
      narrow: 'second-end',
      className: 'clipped',
      cell: ({ merchantReferenceId, referenceId }) => merchantReferenceId ?? <code>{referenceId}</code>,
    },
    {
      title: columns.time,
      narrow: 'second',
      cell: ({ createdAt }) => <Time at={createdAt} style="time" locale={locale} />,
    },
    ...(seesBalance ? [net, settled] : []),
    total,
    status,
  ];
}
