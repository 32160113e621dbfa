import { randomUUID } from 'node:crypto';
import { serializeDynamicQris, type QrisAcquirer } from '../qris/qris';

/** The server key of the first shop. The demo seed registers an account with it. */
export const SANDBOX_SERVER_KEY = 'SB-Mid-server-lunas-sandbox';

/** Midtrans' names of the acquirers behind `payment_type: qris`. */
export const ACQUIRERS = {
  gopay: { qrisAcquirer: 'gopay', canCancelAndRefund: true },
  // ShopeePay has neither (docs/contract.md#cancel-and-refund).
  'airpay shopee': { qrisAcquirer: 'shopeepay', canCancelAndRefund: false },
} as const satisfies Record<string, { qrisAcquirer: QrisAcquirer; canCancelAndRefund: boolean }>;

export type Acquirer = keyof typeof ACQUIRERS;
export const ACQUIRER_NAMES = ['gopay', 'airpay shopee'] as const satisfies readonly Acquirer[];

/** The criteria of a merchant's size, as a QRIS has them. */
export const CRITERIA = ['UMI', 'UKE', 'UME', 'UBE'] as const;

/** A shop of the simulated acquirer: one server key, and the name in the customer's app. */
export interface AcquirerShop {
  readonly serverKey: string;
  /** Ten digits: its number at the acquirer. */
  readonly merchantNumber: string;
  readonly nmid: string;
  readonly name: string;
  readonly city: string;
  readonly criterion: (typeof CRITERIA)[number];
  /** What its QRs have instead, from now on; null: its own. */
  readonly issuesNmid: string | null;
  readonly issuesName: string | null;
}

/** What the QRs of all shops have. */
const SHARED_FIELDS = { categoryCode: '5499', postalCode: '10110' } as const;

/** GoPay's QRIS contains the transaction's UUID, ShopeePay's a reference of at most 25 characters. */
export function newQrReference(acquirer: Acquirer, transactionId: string): string {
  return acquirer === 'gopay' ? transactionId : `QR-${randomUUID().replaceAll('-', '').slice(0, 20)}`;
}

interface IssuedOrder {
  readonly acquirer: Acquirer;
  readonly qrReference: string;
  readonly totalRupiah: number;
}

/** The QRIS of one order. @throws Error if the reference or the amount does not fit into a QRIS */
export function issueQrString(shop: AcquirerShop, { acquirer, qrReference, totalRupiah }: IssuedOrder): string {
  const qris = serializeDynamicQris({
    ...SHARED_FIELDS,
    merchantNumber: shop.merchantNumber,
    sizeClass: shop.criterion,
    nmid: shop.issuesNmid ?? shop.nmid,
    merchantName: shop.issuesName ?? shop.name,
    merchantCity: shop.city,
    acquirer: ACQUIRERS[acquirer].qrisAcquirer,
    totalRupiah,
    transactionId: qrReference,
  });
  if (!qris.ok) throw new Error(`The sandbox cannot serialize its QRIS: ${qris.error.message}`);
  return qris.value;
}
