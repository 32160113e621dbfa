import { createHash, randomUUID } from 'node:crypto';
import {
  sumOf,
  type LedgerPayment,
  type LedgerRefund,
  type OrderStatus,
  type PaymentWithRefunds,
} from './ledger-records';
import { formatMidtransTime } from './midtrans-time';
import { SANDBOX_MERCHANT_ID, SANDBOX_SERVER_KEY } from './acquirers';

/** An answer as Midtrans gives it: the code that counts is in the body. */
export interface AcquirerResponse {
  readonly status_code: string;
  readonly status_message: string;
  readonly [field: string]: unknown;
}

/** Midtrans' code for an order in a state: in an answer, and in a notification (docs: "QRIS", "Get Transaction Status"). */
const STATUS_CODES = {
  pending: { response: '201', notification: '201' },
  settlement: { response: '200', notification: '200' },
  expire: { response: '407', notification: '202' },
  cancel: { response: '200', notification: '200' },
  refund: { response: '200', notification: '200' },
  partial_refund: { response: '200', notification: '200' },
} as const satisfies Record<OrderStatus, { response: string; notification: string }>;

export function chargeResponse(payment: LedgerPayment, baseUrl: string): AcquirerResponse {
  const { transactionId } = payment;
  return {
    status_code: '201',
    status_message: 'QRIS transaction is created',
    ...describe({ payment: { ...payment, status: 'pending', paidAt: null }, refunds: [] }),
    actions: [
      { name: 'generate-qr-code', method: 'GET', url: `${baseUrl}/v2/qris/${transactionId}/qr-code` },
      { name: 'generate-qr-code-v2', method: 'GET', url: `${baseUrl}/v4/qris/${transactionId}/qr-code` },
    ],
    qr_string: payment.qrString,
    expiry_time: formatMidtransTime(payment.expiresAt),
  };
}

/** As the published answers, it does not repeat the QR string. */
export function statusResponse(found: PaymentWithRefunds): AcquirerResponse {
  return stateResponse(found, 'Success, transaction is found');
}

export function stateResponse(found: PaymentWithRefunds, message: string): AcquirerResponse {
  const code = STATUS_CODES[found.payment.status].response;
  return {
    status_code: code,
    status_message: message,
    ...describe(found),
    signature_key: sign(found.payment, code),
    expiry_time: formatMidtransTime(found.payment.expiresAt),
  };
}

export function refundResponse(found: PaymentWithRefunds, refund: LedgerRefund): AcquirerResponse {
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

/** An answer that says no, without an order. */
export function errorResponse(statusCode: string, message: string): AcquirerResponse {
  return { status_code: statusCode, status_message: message, id: randomUUID() };
}

/** The text of a notification; kept as it is, so that every repetition is the same byte for byte. */
export function notificationBody(found: PaymentWithRefunds): string {
  const code = STATUS_CODES[found.payment.status].notification;
  return JSON.stringify({
    ...describe(found),
    status_message: 'midtrans payment notification',
    status_code: code,
    signature_key: sign(found.payment, code),
  });
}

function describe({ payment, refunds }: PaymentWithRefunds): Record<string, unknown> {
  const taken = refunds.filter((refund) => refund.status !== 'rejected');
  return {
    transaction_time: formatMidtransTime(payment.chargedAt),
    transaction_status: payment.status,
    transaction_id: payment.transactionId,
    order_id: payment.orderId,
    merchant_id: SANDBOX_MERCHANT_ID,
    gross_amount: formatAmount(payment.grossAmountRupiah),
    currency: 'IDR',
    payment_type: 'qris',
    fraud_status: 'accept',
    acquirer: payment.acquirer,
    ...(payment.paidAt && {
      settlement_time: formatMidtransTime(payment.paidAt),
      // The customer pays with the acquirer's own wallet.
      transaction_type: 'on-us',
      issuer: payment.acquirer,
      ...(payment.acquirer === 'airpay shopee' && { reference_id: payment.qrReference }),
    }),
    ...(taken.length > 0 && { refund_amount: formatAmount(sumOf(taken)), refunds: taken.map(describeRefund) }),
  };
}

/** A refund is final only with `bank_confirmed_at`. */
function describeRefund(refund: LedgerRefund) {
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

/** It covers neither the time nor the status: whoever gets it must ask again. */
function sign(payment: LedgerPayment, statusCode: string): string {
  return createHash('sha512')
    .update(payment.orderId + statusCode + formatAmount(payment.grossAmountRupiah) + SANDBOX_SERVER_KEY)
    .digest('hex');
}
