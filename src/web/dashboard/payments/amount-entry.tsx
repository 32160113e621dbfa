import type { ReactElement } from 'react';
import { feeTermsOf, type FeeRates } from '../../../domain/fee-terms';
import { amountsOf, type FeePayer, type FeeRate } from '../../../domain/fees';
import { formatDigits, formatRupiah, formatUnbroken, readRupiah, RUPIAH_TEXT } from '../../../domain/money';
import type { ProviderName } from '../../../domain/provider-capabilities';
import type { MerchantView } from '../merchant-view';
import { NumberKeys } from './number-keys';
import { newPaymentPath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '000', '0', 'delete'] as const;

/** What decides about the fee of an amount. */
export interface ShownTerms {
  readonly policy: FeeRate;
  readonly rates: FeeRates;
}

interface AmountEntryProps {
  readonly view: MerchantView;
  readonly feePayer: FeePayer;
  readonly terms: readonly { readonly provider: ProviderName; readonly terms: ShownTerms }[];
  readonly chosen: ProviderName;
  /** What is in the field. */
  readonly amount: string;
  readonly lastAmounts: readonly number[];
}

/** What helps to write an amount: what it leaves, keys for a phone, the amounts of before. */
export function AmountEntry({ view, feePayer, terms, chosen, amount, lastAmounts }: AmountEntryProps): ReactElement {
  const texts = PAYMENT_TEXTS[view.locale.language];
  const chosenTerms = terms.find(({ provider }) => provider === chosen)?.terms;
  return (
    <>
      <output className="amount-result" htmlFor="amount">
        {chosenTerms && resultOf(amount, chosenTerms, feePayer, texts.amountResult[feePayer])}
      </output>
      {lastAmounts.length > 0 && (
        <nav className="last-amounts" aria-label={texts.lastAmounts}>
          <span className="dim">{texts.lastAmounts}</span>
          {lastAmounts.map((rupiah) => (
            <a
              key={rupiah}
              className="button"
              href={newPaymentPath.to(view, { amount: formatDigits(rupiah) })}
              data-amount={rupiah}
            >
              {formatRupiah(rupiah)}
            </a>
          ))}
        </nav>
      )}
      <NumberKeys view={view} keys={KEYS} />
    </>
  );
}

function resultOf(
  amount: string,
  { policy, rates }: ShownTerms,
  feePayer: FeePayer,
  text: (amount: string) => string,
): string | null {
  const rupiah = RUPIAH_TEXT.test(amount) ? readRupiah(amount) : 0;
  const result = rupiah < 1 ? null : amountsOf(rupiah, feeTermsOf(rupiah, policy, rates), feePayer);
  if (result?.outcome !== 'ok') return null;
  const { netRupiah, totalRupiah } = result.amounts;
  return text(formatUnbroken(feePayer === 'merchant' ? netRupiah : totalRupiah));
}
