import { RECEIVED_STATUSES } from '../../../domain/payment-transitions';
import { Chip } from '../../ui/chip';
import type { Column } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { paymentPagePath } from '../payments/payment-paths';
import type { ListedPayment } from '../payments/payment-table';
import { COUNTER_TEXTS } from './counter-texts';

/** A row of a shift. */
export interface ShiftPayment extends ListedPayment {
  /** What is in the balance; null: nothing yet. */
  readonly settledRupiah: number | null;
}

/** Who sees the balance also sees what of it is settled. */
export function shiftColumns(
  { texts, locale, code }: MerchantView,
  seesBalance: boolean,
): readonly Column<ShiftPayment>[] {
  const { columns } = texts.list;
  const shift = COUNTER_TEXTS[locale.language].shift;
  const rupiah = (value: number | null) => (value === null ? <span className="dim">–</span> : <Money rupiah={value} />);
  const ofBalance: readonly Column<ShiftPayment>[] = [
    {
      title: columns.net,
      narrow: 'hidden',
      className: 'number',
      cell: ({ status, netRupiah }) => rupiah(RECEIVED_STATUSES.includes(status) ? netRupiah : null),
    },
    {
      title: shift.settled,
      narrow: 'hidden',
      className: 'number',
      cell: ({ settledRupiah }) => rupiah(settledRupiah),
    },
  ];
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
    ...(seesBalance ? ofBalance : []),
    {
      title: columns.total,
      narrow: 'first',
      className: 'number strong',
      cell: ({ referenceId, totalRupiah }) => (
        <a className="row-link" href={paymentPagePath.to({ code, ref: referenceId })}>
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
