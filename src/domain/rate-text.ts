import { formatRupiah } from './money';
import type { Language } from './sign-in';

const AND = { id: 'dan', en: 'and' } as const satisfies Readonly<Record<Language, string>>;

/** `0.7 % and Rp 500`, or `Rp 500` if that is all. */
export function rateText(language: Language, basisPoints: number, flatRupiah: number): string {
  const percent = `${(basisPoints / 100).toLocaleString(language)} %`;
  if (flatRupiah === 0) return percent;
  const flat = formatRupiah(flatRupiah);
  return basisPoints === 0 ? flat : `${percent} ${AND[language]} ${flat}`;
}
