/**
 * Money is whole rupiah in a JavaScript integer. QRIS allows at most Rp10,000,000 for the total that the customer
 * pays.
 */
export const MAX_TOTAL_RUPIAH = 10_000_000;

/** `Rp 50.000`, as Indonesians write it. */
export function formatRupiah(rupiah: number): string {
  return `Rp ${String(rupiah).replace(/\B(?=(\d{3})+$)/g, '.')}`;
}
