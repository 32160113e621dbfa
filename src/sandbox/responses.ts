import { createHash, randomUUID } from 'node:crypto';
import { sumOf, type Order, type OrderRefund, type OrderStatus, type OrderWithRefunds } from './ledger-records';
import { formatMidtransTime } from './midtrans-time';
import type { Protocol } from './respond';

/** A response of Midtrans. The relevant status code is in the body. */
export interface AcquirerResponse {
  readonly status_code: string;
  readonly status_message: string;
  readonly [field: string]: unknown;
}

/** Midtrans' status codes of an order (documents "QRIS" and "Get Transaction Status"). */
const STATUS_CODES = {
  pending: { response: '201', notification: '201' },
  settlement: { response: '200', notification: '200' },
  expire: { response: '407', notification: '202' },
  cancel: { response: '200', notification: '200' },
  refund: { response: '200', notification: '200' },
  partial_refund: { response: '200', notification: '200' },
} as const satisfies Record<OrderStatus, { response: string; notification: string }>;

export function chargeResponse(order: Order, baseUrl: string): AcquirerResponse {
  const { transactionId } = order;
  return {
    status_code: '201',
    status_message: 'QRIS transaction is created',
    ...describe({ order: { ...order, status: 'pending', paidAt: null }, refunds: [] }),
    actions: [
      { name: 'generate-qr-code', method: 'GET', url: `${baseUrl}/v2/qris/${transactionId}/qr-code` },
      { name: 'generate-qr-code-v2', method: 'GET', url: `${baseUrl}/v4/qris/${transactionId}/qr-code` },
    ],
    qr_string: order.qrString,
    expiry_time: formatMidtransTime(order.expiresAt),
  };
}

/** Like Midtrans' published examples; a status has no QR string. */
export function stateResponse(found: OrderWithRefunds, message: string): AcquirerResponse {
  const code = STATUS_CODES[found.order.status].response;
  return {
    status_code: code,
    status_message: message,
    ...describe(found),
    signature_key: sign(found.order, code),
    expiry_time: formatMidtransTime(found.order.expiresAt),
  };
}

export function refundResponse(found: OrderWithRefunds, refund: OrderRefund): AcquirerResponse {
  const rejected = refund.status === 'rejected';
  const { refunds: _, ...described } = describe(found);
  return {
    ...described,
    status_code: rejected ? '202' : '200',
    status_message: rejected ? 'Refund denied by the bank' : 'Success, refund request is approved',
    refund_chargeback_id: refund.chargebackId,
    refund_amount: formatAmount(rejected ? 0 : refund.amountRupiah),
    refund_key: refund.refundKey,
  };
}

/** An error without an order. */
export function errorResponse(statusCode: string, message: string): AcquirerResponse {
  return { status_code: statusCode, status_message: message, id: randomUUID() };
}

/** No such path. */
export function unknownResource(): AcquirerResponse {
  return errorResponse('404', 'The requested resource is not found');
}

export function internalError(): AcquirerResponse {
  return errorResponse('500', 'Sorry, we encountered internal server error. We will fix this soon.');
}

/** Midtrans responds with HTTP 200 to all requests except these. */
const HTTP_ERRORS: ReadonlySet<string> = new Set(['400', '401', '413', '429', '500']);

/** The relevant code is in the body. */
export const CORE_API: Protocol<AcquirerResponse> = {
  render: (body) => ({ httpStatus: HTTP_ERRORS.has(body.status_code) ? Number(body.status_code) : 200, body }),
  internalError,
};

/** The body of a notification. It is stored, so that each attempt sends the same bytes. */
export function notificationBody(found: OrderWithRefunds): string {
  const code = STATUS_CODES[found.order.status].notification;
  return JSON.stringify({
    ...describe(found),
    status_message: 'midtrans payment notification',
    status_code: code,
    signature_key: sign(found.order, code),
  });
}

function describe({ order, refunds }: OrderWithRefunds): Record<string, unknown> {
  const accepted = refunds.filter((refund) => refund.status !== 'rejected');
  return {
    transaction_time: formatMidtransTime(order.chargedAt),
    transaction_status: order.status,
    transaction_id: order.transactionId,
    order_id: order.orderId,
    merchant_id: `G${order.merchantNumber.slice(1)}`,
    gross_amount: formatAmount(order.grossAmountRupiah),
    currency: 'IDR',
    payment_type: 'qris',
    fraud_status: 'accept',
    acquirer: order.acquirer,
    ...(order.paidAt && {
      settlement_time: formatMidtransTime(order.paidAt),
      // The customer pays with the acquirer's own wallet.
      transaction_type: 'on-us',
      issuer: order.acquirer,
      ...(order.acquirer === 'airpay shopee' && { reference_id: order.qrReference }),
    }),
    ...(accepted.length > 0 && { refund_amount: formatAmount(sumOf(accepted)), refunds: accepted.map(describeRefund) }),
  };
}

/** A refund is final only with `bank_confirmed_at`. */
function describeRefund(refund: OrderRefund) {
  return {
    refund_chargeback_id: refund.chargebackId,
    refund_amount: formatAmount(refund.amountRupiah),
    created_at: formatMidtransTime(refund.createdAt),
    reason: refund.reason,
    refund_key: refund.refundKey,
    ...(refund.confirmedAt && { refund_method: 'online', bank_confirmed_at: formatMidtransTime(refund.confirmedAt) }),
  };
}

export function formatAmount(rupiah: number): string {
  return `${rupiah}.00`;
}

/** Midtrans' signature. It covers neither time nor status, so the receiver must query the status. */
function sign(order: Order, statusCode: string): string {
  return createHash('sha512')
    .update(order.orderId + statusCode + formatAmount(order.grossAmountRupiah) + order.serverKey)
    .digest('hex');
}
