import type { AccountStop } from '../domain/exception-kinds';
import { formatRupiah } from '../domain/money';
import { parseQris, type Qris } from '../qris/qris';
import { describeQrisError } from '../qris/result';

/** Why no customer may get a QR. `stopsAccount`: each further one of the account would be like it. */
export interface QrisFault {
  readonly reason: string;
  readonly stopsAccount?: AccountStop;
}

/** The shop that each QR of an account has. */
export interface AccountShop {
  /** The NMID of our account; null: not known, so not compared. */
  readonly nmid: string | null;
  /** The name in the customer's app; null: not known, so not compared. */
  readonly shownName: string | null;
}

export interface ExpectedQris extends AccountShop {
  readonly totalRupiah: number;
}

/**
 * Why a QR of an acquirer is unusable: it is no valid QRIS (EMVCo: CRC, format), or has another amount or shop.
 * Null if it is usable, also without an amount, since the acquirer has the amount of its order.
 */
export function findQrisFault(payload: string, { totalRupiah, ...shop }: ExpectedQris): QrisFault | null {
  const qris = parseQris(payload);
  if (!qris.ok) return { reason: `its QR cannot be used: ${describeQrisError(qris.error)}` };
  const { totalRupiah: issuedRupiah } = qris.value;
  if (issuedRupiah !== null && issuedRupiah !== totalRupiah) return changedAmount('its QR', issuedRupiah, totalRupiah);
  const reason = foreignMerchant(qris.value, shop);
  return reason === null ? null : { reason, stopsAccount: 'foreign_qris' };
}

/** What of the shop in a QR is not that of our account; null: nothing. */
function foreignMerchant(issued: Pick<Qris, 'nmid' | 'merchantName'>, { nmid, shownName }: AccountShop): string | null {
  if (nmid !== null && issued.nmid !== nmid) {
    return `its QR has ${issued.nmid === null ? 'no NMID' : `NMID ${issued.nmid}`} instead of ${nmid}`;
  }
  if (shownName === null || comparable(issued.merchantName) === comparable(shownName)) return null;
  return `its QR has the name ${issued.merchantName} instead of ${shownName}`;
}

/** Acquirers write a name in capitals, and with more or less space. */
function comparable(name: string): string {
  return name.replaceAll(/\s+/g, ' ').trim().toUpperCase();
}

/** The acquirer made the order over another amount than was requested. @param where its amount was found */
export function changedAmount(where: string, issuedRupiah: number, totalRupiah: number) {
  const amounts = `${formatRupiah(issuedRupiah)} instead of ${formatRupiah(totalRupiah)}`;
  const reason = `${where} is over ${amounts} (a fee added to the customer? See the settings of the account)`;
  return { reason, stopsAccount: 'changed_amount' } as const;
}
