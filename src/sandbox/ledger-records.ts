import type { Pool, PoolClient } from 'pg';
import type { Acquirer } from './acquirers';
import type { ORDER_STATUSES } from './database';

export type OrderStatus = (typeof ORDER_STATUSES)[number];

export interface LedgerPayment {
  readonly orderId: string;
  readonly transactionId: string;
  readonly acquirer: Acquirer;
  readonly grossAmountRupiah: number;
  readonly status: OrderStatus;
  readonly qrReference: string;
  readonly qrString: string;
  readonly notificationUrl: string | null;
  /** Charges that reached the ledger for this order: 1, and one more for each that was refused as a duplicate. */
  readonly chargeCalls: number;
  /** Status calls that reached the sandbox for this order, those included that an injected fault answered. */
  readonly statusCalls: number;
  readonly chargedAt: Date;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
}

export interface LedgerRefund {
  readonly chargebackId: number;
  readonly refundKey: string;
  readonly amountRupiah: number;
  readonly reason: string;
  /** `requested`: taken, the bank has not confirmed yet. `rejected`: turned down, no money moved. */
  readonly status: 'requested' | 'confirmed' | 'rejected';
  readonly createdAt: Date;
  readonly confirmedAt: Date | null;
}

export interface PaymentWithRefunds {
  readonly payment: LedgerPayment;
  readonly refunds: readonly LedgerRefund[];
}

export const ORDER_COLUMNS = `
  order_id AS "orderId", transaction_id AS "transactionId", acquirer, gross_amount_rupiah AS "grossAmountRupiah", status,
  qr_reference AS "qrReference", qr_string AS "qrString", notification_url AS "notificationUrl",
  charge_calls AS "chargeCalls", status_calls AS "statusCalls", charged_at AS "chargedAt", expires_at AS "expiresAt", paid_at AS "paidAt"`;
export const REFUND_COLUMNS = `
  chargeback_id AS "chargebackId", refund_key AS "refundKey", amount_rupiah AS "amountRupiah", reason, status,
  created_at AS "createdAt", confirmed_at AS "confirmedAt"`;

/** Rupiah of the refunds that were taken. */
export function sumOf(refunds: readonly LedgerRefund[]): number {
  return refunds.reduce((sum, refund) => (refund.status === 'rejected' ? sum : sum + refund.amountRupiah), 0);
}

/** An order that was never paid has none. */
export async function readRefunds(db: Pool | PoolClient, { orderId, paidAt }: LedgerPayment): Promise<LedgerRefund[]> {
  if (paidAt === null) return [];
  const result = await db.query<LedgerRefund>({
    name: 'read_refunds',
    text: `SELECT ${REFUND_COLUMNS} FROM refunds WHERE order_id = $1 ORDER BY chargeback_id`,
    values: [orderId],
  });
  return result.rows;
}

/** The row of a statement that always returns one. */
export function expectOne<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('A statement that always returns a row returned none.');
  return row;
}
