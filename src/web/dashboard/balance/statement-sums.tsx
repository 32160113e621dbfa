import type { ReactElement } from 'react';
import { Card, Facts } from '../../ui/layout';
import { Money, SignedMoney } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import type { ShownDay } from './balance-page';
import { BALANCE_TEXTS } from './balance-texts';

type SumsProps = Omit<ShownDay, 'day' | 'isClosed'> & { readonly view: MerchantView };

/** The opening of a statement, what came in and went out, and its closing. */
export function Sums({ view: { locale }, ...day }: SumsProps): ReactElement {
  const { columns } = BALANCE_TEXTS[locale.language];
  return (
    <Card part="sums" version={String(day.closingRupiah)}>
      <Facts
        facts={[
          { name: columns.opening, value: <Money rupiah={day.openingRupiah} /> },
          { name: columns.in, value: <SignedMoney rupiah={day.creditRupiah} /> },
          { name: columns.out, value: <SignedMoney rupiah={-day.debitRupiah} /> },
          { name: columns.closing, value: <Money rupiah={day.closingRupiah} />, isTotal: true },
        ]}
      />
    </Card>
  );
}
