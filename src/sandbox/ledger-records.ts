import type { Pool, PoolClient } from 'pg';
import type { Acquirer } from './acquirers';
import type { ORDER_STATUSES } from './database';

export type OrderStatus = (typeof ORDER_STATUSES)[number];

export interface Order {
  readonly orderId: string;
  readonly transactionId: string;
  readonly acquirer: Acquirer;
  readonly grossAmountRupiah: number;
  readonly status: OrderStatus;
  readonly qrReference: string;
  readonly qrString: string;
  readonly notificationUrl: string | null;
  /** Charges of this order that reached the ledger: 1, and one more for each charge rejected as a duplicate. */
  readonly chargeCalls: number;
  /** Status calls for this order that reached the sandbox, those with an injected fault included. */
  readonly statusCalls: number;
  readonly chargedAt: Date;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
  /** The key of the shop whose order it is. */
  readonly serverKey: string;
  readonly merchantNumber: string;
}

export interface OrderRefund {
  readonly chargebackId: number;
  readonly refundKey: string;
  readonly amountRupiah: number;
  readonly reason: string;
  /** `requested`: accepted, not yet confirmed by the bank. `rejected`: no money moved. */
  readonly status: 'requested' | 'confirmed' | 'rejected';
  readonly createdAt: Date;
  readonly confirmedAt: Date | null;
}

export interface OrderWithRefunds {
  readonly order: Order;
  readonly refunds: readonly OrderRefund[];
}

export const ORDER_COLUMNS = `
  order_id as "orderId", transaction_id as "transactionId", acquirer, gross_amount_rupiah as "grossAmountRupiah",
  status, qr_reference as "qrReference", qr_string as "qrString", notification_url as "notificationUrl",
  charge_calls as "chargeCalls", status_calls as "statusCalls", charged_at as "chargedAt", expires_at as "expiresAt",
  paid_at as "paidAt", server_key as "serverKey",
  (select lpad(number::text, 10, '0') from shops where shops.server_key = payments.server_key) as "merchantNumber"`;
export const REFUND_COLUMNS = `
  chargeback_id as "chargebackId", refund_key as "refundKey", amount_rupiah as "amountRupiah", reason, status,
  created_at as "createdAt", confirmed_at as "confirmedAt"`;

/** Sum of the refunds that were not rejected, in rupiah. */
export function sumOf(refunds: readonly OrderRefund[]): number {
  return refunds.reduce((sum, refund) => (refund.status === 'rejected' ? sum : sum + refund.amountRupiah), 0);
}

/** Without a query if the order was never paid: it has no refunds. */
export async function readRefunds(db: Pool | PoolClient, { orderId, paidAt }: Order): Promise<OrderRefund[]> {
  if (paidAt === null) return [];
  const result = await db.query<OrderRefund>({
    name: 'read_refunds',
    text: `select ${REFUND_COLUMNS} from refunds where order_id = $1 order by chargeback_id`,
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
