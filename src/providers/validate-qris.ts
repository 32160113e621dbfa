import { formatRupiah } from '../domain/money';
import { parseQris } from '../qris/qris';

/**
 * Why a QR that an acquirer issued is of no use to the customer: it does not read as a QRIS (EMVCo: CRC, format), or it asks
 * for another amount. Null where it is sound; one without an amount is, since the acquirer knows the amount of its order.
 */
export function validateQris(payload: string, totalRupiah: number): string | null {
  const qris = parseQris(payload);
  if (!qris.ok) return `its QR cannot be used: ${qris.error.message}`;
  const expected = qris.value.totalRupiah;
  if (expected === null || expected === totalRupiah) return null;
  return `its QR asks for ${formatRupiah(expected)} instead of ${formatRupiah(totalRupiah)}`;
}
