import { formatRupiah } from '../domain/money';
import { parseQris } from '../qris/qris';

/**
 * Why a QR of an acquirer is unusable: it is no valid QRIS (EMVCo: CRC, format), or has another amount. Null if it is
 * valid, also without an amount, since the acquirer has the amount of its order.
 */
export function validateQris(payload: string, totalRupiah: number): string | null {
  const qris = parseQris(payload);
  if (!qris.ok) return `its QR cannot be used: ${qris.error.message}`;
  const expected = qris.value.totalRupiah;
  if (expected === null || expected === totalRupiah) return null;
  return `its QR has ${formatRupiah(expected)} instead of ${formatRupiah(totalRupiah)}`;
}
