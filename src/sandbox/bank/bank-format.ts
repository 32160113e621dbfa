import type { SnapProfileName } from '../snap/merchants';
import type { TransferStatus } from './transfer-records';

const WIB_OFFSET_MS = 7 * 60 * 60 * 1000;

/** `2026-11-24T10:00:00+07:00` */
export function formatWib(date: Date): string {
  return new Date(date.getTime() + WIB_OFFSET_MS).toISOString().replace(/\.\d+Z$/, '+07:00');
}

export function renderAmount(rupiah: number): { readonly value: string; readonly currency: 'IDR' } {
  return { value: `${rupiah}.00`, currency: 'IDR' };
}

const COMMON_CODES = { not_received: '07', rejected: '07', pending: '03', completed: '00', failed: '06' } as const;

/** `latestTransactionStatus`. Midtrans reports a returned transfer as failed. */
export const STATUS_CODES: Readonly<Record<SnapProfileName, Readonly<Record<TransferStatus, string>>>> = {
  midtrans: { ...COMMON_CODES, returned: '06' },
  faspay: { ...COMMON_CODES, returned: '04' },
};
