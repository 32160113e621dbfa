import { formatRupiah } from '../domain/money';
import { parseQris } from '../qris/qris';
import { describeQrisError } from '../qris/result';

/**
 * Why a QR of an acquirer is unusable: it is no valid QRIS (EMVCo: CRC, format), or has another amount. Null if it is
 * valid, also without an amount, since the acquirer has the amount of its order.
 */
export function validateQris(payload: string, totalRupiah: number): string | null {
  const qris = parseQris(payload);
  if (!qris.ok) return `its QR cannot be used: ${describeQrisError(qris.error)}`;
  const expected = qris.value.totalRupiah;
  if (expected === null || expected === totalRupiah) return null;
  return `its QR has ${formatRupiah(expected)} instead of ${formatRupiah(totalRupiah)}`;
}

/**
 * Why a valid QR is not of our account: another merchant would get the money. Null if it is.
 * @param nmid that of our account; null: not known
 */
export function foreignMerchant(payload: string, nmid: string | null): string | null {
  if (nmid === null) return null;
  const qris = parseQris(payload);
  const issued = qris.ok ? qris.value.nmid : null;
  return issued === nmid ? null : `its QR has ${issued === null ? 'no NMID' : `NMID ${issued}`} instead of ${nmid}`;
}
