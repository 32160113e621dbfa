import type { FeeRates } from '../../domain/fee-terms';
import type { FeeRate } from '../../domain/fees';
import { formatRupiah } from '../../domain/money';
import type { Language } from '../../domain/sign-in';

const en = {
  rate: (percent: string, flat: string | null) => (flat === null ? `${percent} %` : `${percent} % and ${flat}`),
  from: (rate: string, amount: string) => `${rate} from ${amount}`,
  ifLess: (rate: string) => `or ${rate} if that is less`,
};

const id: typeof en = {
  rate: (percent, flat) => (flat === null ? `${percent} %` : `${percent} % dan ${flat}`),
  from: (rate, amount) => `${rate} mulai ${amount}`,
  ifLess: (rate) => `atau ${rate} jika lebih rendah`,
};

const TEXTS: Readonly<Record<Language, typeof en>> = { en, id };

/** `0.7 % and Rp 500`. */
export function rateText(language: Language, basisPoints: number, flatRupiah: number): string {
  const percent = (basisPoints / 100).toLocaleString(language);
  return TEXTS[language].rate(percent, flatRupiah === 0 ? null : formatRupiah(flatRupiah));
}

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
