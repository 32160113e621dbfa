import type { FeeRates } from '../../domain/fee-terms';
import type { FeeRate } from '../../domain/fees';
import { formatRupiah } from '../../domain/money';
import { rateText } from '../../domain/rate-text';
import type { Language } from '../../domain/sign-in';

const en = {
  from: (rate: string, amount: string) => `${rate} from ${amount}`,
  ifLess: (rate: string) => `or ${rate} if that is less`,
};

const id: typeof en = {
  from: (rate, amount) => `${rate} mulai ${amount}`,
  ifLess: (rate) => `atau ${rate} jika lebih rendah`,
};

const TEXTS: Readonly<Record<Language, typeof en>> = { en, id };

/** What a new payment costs: `0 %, 0.3 % from Rp 500.001, or 0.2 % if that is less`. */
export function feeText(
  language: Language,
  { policy, rates }: { readonly policy: FeeRate; readonly rates: FeeRates },
): string {
  const { from, ifLess } = TEXTS[language];
  const { schedule, price } = rates;
  const agreed = price && rateText(language, price.basisPoints, price.flatRupiah);
  if (schedule === null) return agreed ?? rateText(language, policy.feeBasisPoints, policy.feeFlatRupiah);
  const bands = schedule.bands.map(({ fromRupiah, basisPoints }) => {
    const rate = rateText(language, basisPoints, 0);
    return fromRupiah === 0 ? rate : from(rate, formatRupiah(fromRupiah));
  });
  return [...bands, ...(agreed === null ? [] : [ifLess(agreed)])].join(', ');
}
