/**
 * Messages of our own, with the fields, formats and values of those that Midtrans publishes, so that the adapter is not
 * only tested against our sandbox. Each names its page under docs.midtrans.com, as read in 2026.
 */
export const ORDER_ID = 'LN0Q4T8W2R6Y1Z5X';
export const TRANSACTION_ID = '0d8178e1-c6c7-4ab4-81a6-893be9d924ab';
export const TOTAL_RUPIAH = 275_000;

/** The QRIS of an invented shop in GoPay's order of tags (54 after 61, the transaction in 62-50), CRC from a tool. */
const QR_HEAD =
  '00020101021226610014COM.GO-JEK.WWW01189360091430035257970210G4505263030303UMI' +
  '51440014ID.CO.QRIS.WWW0215ID10200211817450303UMI5204549953033605802ID' +
  '5911Toko Contoh6007JAKARTA610510110';
const QR_TAIL = '624750360d8178e1-c6c7-4ab4-81a6-893be9d924ab0703A016304';
export const QR_STRING = `${QR_HEAD}5409275000.00${QR_TAIL}A1BF`;
export const QR_OVER_ONE_RUPIAH = `${QR_HEAD}54041.00${QR_TAIL}40A8`;
export const QR_WITHOUT_AMOUNT = `${QR_HEAD}${QR_TAIL}AFC1`;

const ORDER = {
  transaction_id: TRANSACTION_ID,
  order_id: ORDER_ID,
  merchant_id: 'G450526303',
  gross_amount: '275000.00',
  currency: 'IDR',
  payment_type: 'qris',
  transaction_time: '2026-09-29 11:46:13',
  fraud_status: 'accept',
  acquirer: 'gopay',
};

const SIGNATURE = 'b1798748303cf0817733c1e312d630793b84d8125a96af0cb7251f8266d5c525';

/** /reference/qris: `qr_string` is in the responses of some pages only; `acquirer` as in /reference/qris-object. */
export const CHARGED = {
  status_code: '201',
  status_message: 'QRIS transaction is created',
  ...ORDER,
  transaction_status: 'pending',
  actions: [
    {
      name: 'generate-qr-code',
      method: 'GET',
      url: `https://api.midtrans.com/v2/qris/${TRANSACTION_ID}/qr-code`,
    },
    {
      name: 'generate-qr-code-v2',
      method: 'GET',
      url: 'https://api.midtrans.com/v4/qris/A120260718094848HaVD2xS9VKID/qr-code',
    },
  ],
  qr_string: QR_STRING,
};

/** /reference/get-transaction-status, with the states of /docs/transaction-status-cycle; it does not repeat the QR. */
export const PENDING_STATUS = {
  status_code: '201',
  status_message: 'Success, transaction is found',
  ...ORDER,
  transaction_status: 'pending',
  signature_key: SIGNATURE,
  expiry_time: '2026-09-29 12:01:13',
};

export const SETTLED = {
  ...PENDING_STATUS,
  status_code: '200',
  transaction_status: 'settlement',
  settlement_time: '2026-09-29 11:50:44',
  transaction_type: 'off-us',
  issuer: 'dana',
  merchant_cross_reference_id: 'b7a96412-21d5-4213-87b6-4a181a3ebfb7',
};

/** /reference/qris, its notification of an "airpay shopee" order: the status has the same fields. */
export const SETTLED_AT_SHOPEEPAY = {
  ...SETTLED,
  acquirer: 'airpay shopee',
  issuer: 'airpay shopee',
  transaction_type: 'on-us',
  shopeepay_reference_number: '144854469038383602',
  reference_id: 'QR-ZbbffKucJPEksDmXMFChZa',
};

/** /reference/get-transaction-status, a refunded order; the two steps of a refund: /reference/refund-transaction. */
const REFUND = {
  refund_chargeback_id: 202602070943231,
  refund_chargeback_uuid: 'fb030849-6b7c-3f88-b85c-25d9c0de612b',
  refund_amount: '275000.00',
  created_at: '2026-09-30 16:43:23',
  reason: 'out of stock',
  refund_key: 'reference1',
};

/** The status is `refund` before the bank has confirmed it. */
export const REFUND_TAKEN = {
  ...SETTLED,
  status_message: 'Success, refund request is approved by the bank',
  transaction_status: 'refund',
  refund_amount: '275000.00',
  refunds: [REFUND],
};

export const REFUND_CONFIRMED = {
  ...REFUND_TAKEN,
  refunds: [{ ...REFUND, refund_method: 'online', bank_confirmed_at: '2026-09-30 16:45:00' }],
};

export const PARTLY_REFUNDED = {
  ...REFUND_TAKEN,
  transaction_status: 'partial_refund',
  refund_amount: '75000.00',
  refunds: [
    { ...REFUND, refund_amount: '75000.00', refund_method: 'offline', bank_confirmed_at: '2026-09-30 16:45:00' },
  ],
};

/** The codes of these states: /reference/code-statuses. */
export const EXPIRED = { ...PENDING_STATUS, status_code: '407', transaction_status: 'expire' };
export const CANCELLED = { ...PENDING_STATUS, status_code: '200', transaction_status: 'cancel' };
export const DENIED = { ...PENDING_STATUS, status_code: '202', transaction_status: 'deny', fraud_status: 'deny' };

/** /reference/expire-transaction: 407 is the success. */
export const EXPIRE_DONE = {
  status_code: '407',
  status_message: 'Success, transaction has expired',
  transaction_id: TRANSACTION_ID,
  order_id: ORDER_ID,
  payment_type: 'qris',
  transaction_time: '2026-09-29 11:46:13',
  transaction_status: 'expire',
  gross_amount: '275000.00',
};

/** /reference/cancel-transaction */
export const CANCEL_DONE = {
  ...EXPIRE_DONE,
  status_code: '200',
  status_message: 'Success, transaction is canceled',
  transaction_status: 'cancel',
};

/** /reference/code-statuses and /reference/refund-transaction; these two come without an id. */
export const CANNOT_MODIFY = {
  status_code: '412',
  status_message: 'Merchant cannot modify the status of the transaction',
};
export const INVALID_REFUND_AMOUNT = {
  status_code: '414',
  status_message: 'Refund request is rejected due to invalid amount',
};

/** /reference/refund-transaction and /reference/direct-refund-transaction */
export const REFUND_DONE = {
  ...EXPIRE_DONE,
  status_code: '200',
  status_message: 'Success, refund request is approved by the bank',
  transaction_status: 'refund',
  refund_chargeback_id: 47594,
  refund_amount: '275000.00',
  refund_key: 'reference1',
};

export const REFUND_DENIED = {
  ...REFUND_DONE,
  status_code: '202',
  status_message: 'Refund denied by the bank',
  transaction_status: 'settlement',
  refund_amount: '0.00',
};

/** An error response: a code of /reference/code-statuses, its message, an id, no order. */
export function errorMessage(status_code: string, status_message: string) {
  return { status_code, status_message, id: '6d5ef8a5-6f1b-4c4c-9d4e-3f2f0b1a7c11' };
}

export const NOT_FOUND = errorMessage('404', "Transaction doesn't exist.");

/** /docs/error-code-and-response-code */
export const WRONG_KEY = errorMessage(
  '401',
  'Access denied due to unauthorized transaction, please check client or server key',
);
export const DUPLICATE_ORDER = errorMessage('406', 'order_id has been paid and utilized, please use another order ID');
/** /reference/refund-transaction: a refund_key that was used for another amount */
export const DUPLICATE_REFUND = errorMessage('406', 'Duplicate refund ID');
/** /reference/code-statuses */
export const TOO_MANY = errorMessage('429', 'API rate limit exceeded');
export const SERVER_ERROR = errorMessage('500', 'Sorry, we encountered internal server error. We will fix this soon.');

/**
 * /docs/https-notification-webhooks: the body of a notification; `signature_key` is the SHA-512 of order id, code,
 * amount and server key. Further fields differ by acquirer and are not signed.
 */
export const PAID_NOTIFICATION = {
  ...ORDER,
  transaction_status: 'settlement',
  settlement_time: '2026-09-29 11:50:44',
  status_message: 'midtrans payment notification',
  status_code: '200',
  transaction_type: 'off-us',
  issuer: 'dana',
};
