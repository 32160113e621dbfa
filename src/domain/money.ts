/**
 * Money is whole rupiah in a JavaScript integer. QRIS allows at most Rp10,000,000 for the total that the customer
 * pays.
 */
export const MAX_TOTAL_RUPIAH = 10_000_000;

/** `50000`, `50.000` or `Rp 50.000`, of at most twelve digits: dots separate thousands. */
export const RUPIAH_TEXT = /^(rp\.? ?)?(\d{1,3}(\.\d{3}){1,3}|\d{1,12})$/i;

/** The amount of a `RUPIAH_TEXT`. */
export const readRupiah = (text: string) => Number(text.replaceAll(/\D/g, ''));

/** `50.000`, as Indonesians write a whole number. */
export function formatDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '.');
}

/** `Rp 50.000` */
export function formatRupiah(rupiah: number): string {
  return `Rp ${formatDigits(rupiah)}`;
}

/** `Rp 50.000`, where no line ends between the currency and the digits. */
export function formatUnbroken(rupiah: number): string {
  return `Rp\u00a0${formatDigits(rupiah)}`;
}
