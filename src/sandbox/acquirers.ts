import { randomUUID } from 'node:crypto';
import { serializeDynamicQris, type QrisAcquirer } from '../qris/qris';

/** The only merchant account of the sandbox. The demo seed registers it with this server key. */
export const SANDBOX_SERVER_KEY = 'SB-Mid-server-lunas-sandbox';
export const SANDBOX_MERCHANT_ID = 'G000000001';

/** Midtrans' names of the acquirers behind `payment_type: qris`. */
export const ACQUIRERS = {
  gopay: { qrisAcquirer: 'gopay', canCancelAndRefund: true },
  // ShopeePay has neither (docs/contract.md#cancel-and-refund).
  'airpay shopee': { qrisAcquirer: 'shopeepay', canCancelAndRefund: false },
} as const satisfies Record<string, { qrisAcquirer: QrisAcquirer; canCancelAndRefund: boolean }>;

export type Acquirer = keyof typeof ACQUIRERS;
export const ACQUIRER_NAMES = ['gopay', 'airpay shopee'] as const satisfies readonly Acquirer[];

/** A fictitious shop. */
const SHOP = {
  merchantNumber: '0000000001',
  sizeClass: 'UMI',
  nmid: 'ID0000000000001',
  categoryCode: '5499',
  merchantName: 'Toko Sandbox Lunas',
  merchantCity: 'Jakarta Pusat',
  postalCode: '10110',
} as const;

/** GoPay's QRIS contains the transaction's UUID, ShopeePay's a reference of at most 25 characters. */
export function newQrReference(acquirer: Acquirer, transactionId: string): string {
  return acquirer === 'gopay' ? transactionId : `QR-${randomUUID().replaceAll('-', '').slice(0, 20)}`;
}

/** The QRIS of one order. @throws Error if the reference or the amount does not fit into a QRIS */
export function issueQrString(acquirer: Acquirer, qrReference: string, totalRupiah: number): string {
  const qris = serializeDynamicQris({
    ...SHOP,
    acquirer: ACQUIRERS[acquirer].qrisAcquirer,
    totalRupiah,
    transactionId: qrReference,
  });
  if (!qris.ok) throw new Error(`The sandbox cannot serialize its QRIS: ${qris.error.message}`);
  return qris.value;
}
