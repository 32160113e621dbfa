import type { AccountStop } from '../domain/exception-kinds';
import { formatRupiah } from '../domain/money';
import { parseQris } from '../qris/qris';
import { describeQrisError } from '../qris/result';

/** Why no customer may get a QR. `stopsAccount`: each further one of the account would be like it. */
export interface QrisFault {
  readonly reason: string;
  readonly stopsAccount?: AccountStop;
}

export interface ExpectedQris {
  readonly totalRupiah: number;
  /** The NMID of our account; null: not known. */
  readonly nmid: string | null;
}

/**
 * Why a QR of an acquirer is unusable: it is no valid QRIS (EMVCo: CRC, format), or has another amount or merchant.
 * Null if it is usable, also without an amount, since the acquirer has the amount of its order.
 */
export function findQrisFault(payload: string, { totalRupiah, nmid }: ExpectedQris): QrisFault | null {
  const qris = parseQris(payload);
  if (!qris.ok) return { reason: `its QR cannot be used: ${describeQrisError(qris.error)}` };
  const { totalRupiah: issuedRupiah, nmid: issued } = qris.value;
  if (issuedRupiah !== null && issuedRupiah !== totalRupiah) return changedAmount('its QR', issuedRupiah, totalRupiah);
  if (nmid === null || issued === nmid) return null;
  const reason = `its QR has ${issued === null ? 'no NMID' : `NMID ${issued}`} instead of ${nmid}`;
  return { reason, stopsAccount: 'foreign_qris' };
}

/** The acquirer made the order over another amount than was requested. @param where its amount was found */
export function changedAmount(where: string, issuedRupiah: number, totalRupiah: number) {
  const amounts = `${formatRupiah(issuedRupiah)} instead of ${formatRupiah(totalRupiah)}`;
  const reason = `${where} is over ${amounts} (a fee added to the customer? See the settings of the account)`;
  return { reason, stopsAccount: 'changed_amount' } as const;
}
