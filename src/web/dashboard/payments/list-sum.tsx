import type { ReactElement } from 'react';
import { Money, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';

/** All payments of the filter, of which the list shows some. */
export interface ListedSum {
  readonly payments: number;
  readonly totalRupiah: number;
  /** The sum over the payments whose money the merchant has. */
  readonly netRupiah: number;
  readonly asOf: Date;
  readonly hasArchivedDays: boolean;
}

const TEXTS = {
  id: {
    payments: 'pembayaran',
    net: 'Anda terima',
    asOf: 'per',
    archived: 'Sebagian pembayaran pada hari-hari ini sudah diarsipkan: dihitung di sini, tetapi tidak ada di daftar.',
  },
  en: {
    payments: 'payments',
    net: 'You receive',
    asOf: 'as of',
    archived: 'Some payments of these days are in the archive: they count here, and are not in the list.',
  },
} as const;

interface ListSumProps {
  readonly view: MerchantView;
  readonly sum: ListedSum;
}

/** Count and sum of the filter. They are some seconds older than the list. */
export function ListSum({ view: { locale }, sum }: ListSumProps): ReactElement | null {
  const texts = TEXTS[locale.language];
  const { payments, totalRupiah, netRupiah, asOf, hasArchivedDays } = sum;
  if (asOf.getTime() <= 0) return null;
  return (
    <div data-part="sum" data-version={`${payments} ${totalRupiah} ${netRupiah}`}>
      <p>
        <b>
          {payments} {texts.payments} · <Money rupiah={totalRupiah} />
        </b>{' '}
        <span className="dim">
          {texts.net} <Money rupiah={netRupiah} />, {texts.asOf} <Time at={asOf} style="second" locale={locale} />
        </span>
      </p>
      {hasArchivedDays && <p className="dim small">{texts.archived}</p>}
    </div>
  );
}
