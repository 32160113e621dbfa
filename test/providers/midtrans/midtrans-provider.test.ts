import { createMidtransProvider } from '../../../src/providers/midtrans/midtrans-provider';
import type { IssueQrisRequest, OrderKey } from '../../../src/providers/provider';
import {
  CANCEL_DONE,
  CANCELLED,
  CANNOT_MODIFY,
  CHARGED,
  DENIED,
  DUPLICATE_ORDER,
  DUPLICATE_REFUND,
  errorMessage,
  EXPIRE_DONE,
  EXPIRED,
  INVALID_REFUND_AMOUNT,
  NOT_FOUND,
  ORDER_ID,
  PARTLY_REFUNDED,
  PENDING_STATUS,
  QR_OVER_ONE_RUPIAH,
  QR_STRING,
  QR_WITHOUT_AMOUNT,
  REFUND_CONFIRMED,
  REFUND_DENIED,
  REFUND_DONE,
  REFUND_TAKEN,
  SERVER_ERROR,
  SETTLED,
  SETTLED_AT_SHOPEEPAY,
  TOO_MANY,
  TOTAL_RUPIAH,
  TRANSACTION_ID,
  WRONG_KEY,
} from './published-messages';
import { startScriptedMidtrans, type ScriptedMidtrans } from './scripted-midtrans';

const ACCOUNT_ERROR_FOR_MERCHANTS = 'the provider rejected it';
const NOTIFICATION_URL = 'http://127.0.0.1:3000/provider-notifications/0';
const REQUEST: IssueQrisRequest = {
  provider: 'gopay',
  referenceId: ORDER_ID,
  totalRupiah: TOTAL_RUPIAH,
  createdAt: new Date('2026-09-29T04:46:13.900Z'),
  expiresAt: new Date('2026-09-29T05:01:13.900Z'),
};
const ORDER: OrderKey = {
  referenceId: ORDER_ID,
  issued: { transactionId: TRANSACTION_ID, totalRupiah: TOTAL_RUPIAH },
};
const REFUND = { ...ORDER, refundKey: 'reference1', totalRupiah: TOTAL_RUPIAH, reason: 'out of stock' };

let midtrans: ScriptedMidtrans;
let provider: ReturnType<typeof createMidtransProvider>;

beforeAll(async () => {
  midtrans = await startScriptedMidtrans();
  provider = createMidtransProvider({
    baseUrl: midtrans.url,
    serverKey: 'SB-Mid-server-x',
    notificationUrl: NOTIFICATION_URL,
  });
});

beforeEach(() => {
  midtrans.requests.length = 0;
});

afterAll(async () => {
  await provider.close();
  await midtrans.close();
});

const call = (timeoutMs = 60_000) => ({ signal: new AbortController().signal, deadlineAtMs: Date.now() + timeoutMs });

describe('issueQris', () => {
  it('requests a QRIS as documented', async () => {
    midtrans.respondWith(CHARGED);
    await provider.issueQris(REQUEST, call());
    const [request] = midtrans.requests;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/v2/charge',
      headers: {
        authorization: `Basic ${Buffer.from('SB-Mid-server-x:').toString('base64')}`,
        'content-type': 'application/json',
        accept: 'application/json',
        'x-override-notification': NOTIFICATION_URL,
      },
    });
    expect(JSON.parse(request?.body ?? '')).toEqual({
      payment_type: 'qris',
      transaction_details: { order_id: ORDER_ID, gross_amount: TOTAL_RUPIAH },
      qris: { acquirer: 'gopay' },
      custom_expiry: { order_time: '2026-09-29 11:46:13 +0700', expiry_duration: 900, unit: 'second' },
    });
  });

  it("names ShopeePay with Midtrans' own name", async () => {
    midtrans.respondWith(CHARGED);
    await provider.issueQris({ ...REQUEST, provider: 'shopeepay' }, call());
    expect(JSON.parse(midtrans.requests[0]?.body ?? '').qris).toEqual({ acquirer: 'airpay shopee' });
  });

  it('sends an idempotency key of a length that Midtrans accepts, one for each order', async () => {
    midtrans.respondWith(CHARGED);
    for (const referenceId of [ORDER_ID, ORDER_ID, 'x'.repeat(50)])
      await provider.issueQris({ ...REQUEST, referenceId }, call());
    const keys = midtrans.requests.map((request) => String(request.headers['idempotency-key']));
    expect(keys[0]).toBe(keys[1]);
    expect(keys[0]).not.toBe(keys[2]);
    for (const key of keys) expect(key.length).toBeLessThanOrEqual(46);
  });

  it('a QRIS is accepted by 201 in the body, with any HTTP status', async () => {
    for (const http of [200, 201]) {
      midtrans.respondWith(CHARGED, http);
      expect(await provider.issueQris(REQUEST, call())).toEqual({
        outcome: 'accepted',
        providerTransactionId: TRANSACTION_ID,
        qrisPayload: QR_STRING,
      });
    }
  });

  it.each([
    ['202', 'Transaction is denied'],
    ['400', 'One or more parameters in the payload is invalid.'],
    ['413', 'The request cannot be processed due to malformed syntax in the request body'],
  ])('a QRIS is rejected by %s, with the message of the acquirer', async (code, message) => {
    midtrans.respondWith(errorMessage(code, message));
    expect(await provider.issueQris(REQUEST, call())).toEqual({ outcome: 'rejected', reason: `${code} ${message}` });
  });

  it.each([
    ['402', 'Payment channel is not activated.'],
    ['410', 'Merchant account is not activated'],
  ])('code %s rejects a QRIS, and the message about our account is not for merchants', async (code, message) => {
    midtrans.respondWith(errorMessage(code, message));
    expect(await provider.issueQris(REQUEST, call())).toEqual({
      outcome: 'rejected',
      reason: `${code} ${message}`,
      merchantReason: ACCOUNT_ERROR_FOR_MERCHANTS,
    });
  });

  it.each<[string, unknown, number]>([
    ['406, the order exists already', DUPLICATE_ORDER, 200],
    ['429, too many calls', TOO_MANY, 429],
    ['500', SERVER_ERROR, 500],
    ['505 in the body of a 200', errorMessage('505', 'Unable to create va_number'), 200],
    ['an order without its id', { ...CHARGED, transaction_id: undefined }, 200],
    ['the response for another order', { ...CHARGED, order_id: 'LN-OTHER' }, 200],
    ['an amount with a fraction', { ...CHARGED, gross_amount: '275000.50' }, 200],
    ['an order that is not pending', { ...CHARGED, transaction_status: 'deny' }, 200],
    ['a gateway page', '<html>502 Bad Gateway</html>', 502],
    ['nothing', '', 200],
    ['half of a response', JSON.stringify(CHARGED).slice(0, 80), 200],
    ['JSON that is no object', '[[[["201"]]]]', 200],
    ['deeply nested JSON', '['.repeat(30_000) + ']'.repeat(30_000), 200],
    ['a response of 100 kB', JSON.stringify({ ...CHARGED, padding: 'x'.repeat(100_000) }), 200],
  ])('a QRIS is indeterminate after %s', async (_, body, http) => {
    midtrans.respondWith(body, http);
    expect(await provider.issueQris(REQUEST, call())).toEqual({ outcome: 'indeterminate', reason: expect.any(String) });
  });

  it.each<[string, object, object]>([
    ['an order without its QR', { qr_string: undefined }, {}],
    ['a QR whose CRC is wrong', { qr_string: `${QR_STRING.slice(0, -1)}0` }, {}],
    ['a truncated QR', { qr_string: QR_STRING.slice(0, 80) }, {}],
    ['an image instead of a payload', { qr_string: 'https://api.midtrans.com/v2/qris/1/qr-code' }, {}],
    ['a QR over another amount', { qr_string: QR_OVER_ONE_RUPIAH }, { stopsAccount: 'changed_amount' }],
    ['an order over another amount', { gross_amount: '275071.00' }, { stopsAccount: 'changed_amount' }],
  ])('a QRIS is unusable after %s', async (_, changes, stop) => {
    midtrans.respondWith({ ...CHARGED, ...changes });
    const outcome = await provider.issueQris(REQUEST, call());
    expect(outcome).toEqual({ outcome: 'unusable', reason: expect.any(String), ...stop });
  });

  it('names both amounts of an order over another one', async () => {
    midtrans.respondWith({ ...CHARGED, gross_amount: '275071.00' });
    expect(await provider.issueQris(REQUEST, call())).toMatchObject({
      reason: expect.stringMatching(/^gross_amount is over Rp 275\.071 instead of Rp 275\.000/),
    });
  });

  it('a QRIS is rejected by 401 with a sentence for merchants that does not mention our provider account', async () => {
    midtrans.respondWith(WRONG_KEY, 401);
    const outcome = await provider.issueQris(REQUEST, call());
    expect(outcome).toEqual({
      outcome: 'rejected',
      reason: expect.stringMatching(/^401 /),
      merchantReason: ACCOUNT_ERROR_FOR_MERCHANTS,
    });
  });

  it('accepts a QR without an amount, since the acquirer has it', async () => {
    midtrans.respondWith({ ...CHARGED, qr_string: QR_WITHOUT_AMOUNT });
    expect(await provider.issueQris(REQUEST, call())).toMatchObject({ qrisPayload: QR_WITHOUT_AMOUNT });
  });

  it('requests an expiry that is never after our own deadline', async () => {
    midtrans.respondWith(CHARGED);
    await provider.issueQris({ ...REQUEST, expiresAt: new Date('2026-09-29T04:46:15.100Z') }, call());
    const { custom_expiry } = JSON.parse(midtrans.requests[0]?.body ?? '');
    expect(custom_expiry).toMatchObject({ expiry_duration: 2, unit: 'second' });
  });
});

describe('every call', () => {
  it('preserves the path prefix of the API, and escapes the order id', async () => {
    midtrans.respondWith(NOT_FOUND);
    const behindProxy = createMidtransProvider({
      baseUrl: `${midtrans.url}/midtrans/`,
      serverKey: 'k',
      notificationUrl: '',
    });
    await behindProxy.findPayment({ referenceId: '../a b', issued: null }, call());
    expect(midtrans.requests[0]?.path).toBe('/midtrans/v2/..%2Fa%20b/status');
    await behindProxy.close();
  });
});

describe('findPayment', () => {
  const found = (payment: object) => ({
    outcome: 'found',
    payment: {
      providerTransactionId: TRANSACTION_ID,
      totalRupiah: TOTAL_RUPIAH,
      paidAt: null,
      qrisPayload: null,
      refunds: [],
      ...payment,
    },
  });
  const PAID_AT = new Date('2026-09-29T04:50:44Z');
  const refund = (confirmedAt: Date | null, totalRupiah = TOTAL_RUPIAH) => ({
    refundKey: 'reference1',
    providerReference: '202602070943231',
    totalRupiah,
    confirmedAt,
  });
  const CONFIRMED_AT = new Date('2026-09-30T09:45:00Z');

  it.each<[string, object, object]>([
    ['pending', PENDING_STATUS, { status: 'pending' }],
    [
      'pending in capitals, as some channels send it',
      { ...PENDING_STATUS, transaction_status: 'PENDING' },
      { status: 'pending' },
    ],
    ['pending with its QR', { ...PENDING_STATUS, qr_string: QR_STRING }, { status: 'pending', qrisPayload: QR_STRING }],
    ['pending with an invalid QR', { ...PENDING_STATUS, qr_string: `${QR_STRING}0` }, { status: 'pending' }],
    [
      'pending with a QR over another amount',
      { ...PENDING_STATUS, qr_string: QR_OVER_ONE_RUPIAH },
      { status: 'pending' },
    ],
    ['paid, at a time in GMT+7', SETTLED, { status: 'paid', paidAt: PAID_AT }],
    ['paid at ShopeePay', SETTLED_AT_SHOPEEPAY, { status: 'paid', paidAt: PAID_AT }],
    ['expired, with code 407', EXPIRED, { status: 'expired' }],
    ['cancelled', CANCELLED, { status: 'cancelled' }],
    ['denied', DENIED, { status: 'denied' }],
    [
      'still paid while the bank has not confirmed the refund',
      REFUND_TAKEN,
      { status: 'paid', paidAt: PAID_AT, refunds: [refund(null)] },
    ],
    [
      'refunded once the bank has confirmed it',
      REFUND_CONFIRMED,
      { status: 'refunded', paidAt: PAID_AT, refunds: [refund(CONFIRMED_AT)] },
    ],
    [
      'still paid after a part went back',
      PARTLY_REFUNDED,
      { status: 'paid', paidAt: PAID_AT, refunds: [refund(CONFIRMED_AT, 75_000)] },
    ],
  ])('reads %s', async (_, body, payment) => {
    midtrans.respondWith(body);
    expect(await provider.findPayment(ORDER, call())).toEqual(found(payment));
    expect(midtrans.requests[0]).toMatchObject({ method: 'GET', path: `/v2/${ORDER_ID}/status`, body: '' });
  });

  it.each([undefined, null, '', {}, 1.5])(
    'reads a refund with the reference %j as one without a reference',
    async (number) => {
      midtrans.respondWith({
        ...REFUND_TAKEN,
        refunds: [{ ...REFUND_TAKEN.refunds[0], refund_chargeback_id: number }],
      });
      expect(await provider.findPayment(ORDER, call())).toEqual(
        found({ status: 'paid', paidAt: PAID_AT, refunds: [{ ...refund(null), providerReference: null }] }),
      );
    },
  );

  it('reads a payment with an invalid time of payment as one without that time', async () => {
    midtrans.respondWith({ ...SETTLED, settlement_time: '29/09/2026 11:50' });
    expect(await provider.findPayment(ORDER, call())).toEqual(found({ status: 'paid' }));
  });

  it('a payment is not found by 404 in the body, with HTTP 200 and with 404', async () => {
    for (const http of [200, 404]) {
      midtrans.respondWith(NOT_FOUND, http);
      expect(await provider.findPayment(ORDER, call())).toEqual({ outcome: 'not_found' });
    }
  });

  it.each<[string, unknown, number]>([
    ['a 404 of another server', '<html>Not Found</html>', 404],
    ['401', WRONG_KEY, 401],
    ['429', TOO_MANY, 429],
    ['an unknown state', { ...PENDING_STATUS, transaction_status: 'unknown' }, 200],
    ['another order', { ...SETTLED, order_id: 'LN-OTHER' }, 200],
    ['no amount', { ...SETTLED, gross_amount: undefined }, 200],
    ['another currency', { ...SETTLED, currency: 'USD' }, 200],
    ['another payment type', { ...SETTLED, payment_type: 'credit_card' }, 200],
    ['a refund without a list of refunds', { ...REFUND_TAKEN, refunds: undefined }, 200],
    ['a refund with an empty list of refunds', { ...REFUND_CONFIRMED, refunds: [] }, 200],
    ['a part of it refunded, without a list of refunds', { ...PARTLY_REFUNDED, refunds: undefined }, 200],
    ['a chargeback', { ...SETTLED, transaction_status: 'chargeback' }, 200],
    ['a chargeback of a part', { ...SETTLED, transaction_status: 'partial_chargeback' }, 200],
  ])('a payment is indeterminate after %s', async (_, body, http) => {
    midtrans.respondWith(body, http);
    expect(await provider.findPayment(ORDER, call())).toMatchObject({ outcome: 'indeterminate' });
  });
});

describe('closing an order', () => {
  it('accepts 407 as a successful expiry', async () => {
    midtrans.respondWith(EXPIRE_DONE);
    expect(await provider.expirePayment(ORDER, call())).toEqual({ outcome: 'accepted' });
    expect(midtrans.requests[0]).toMatchObject({ method: 'POST', path: `/v2/${ORDER_ID}/expire` });
  });

  it('accepts 200 as a successful cancellation, and not 407', async () => {
    midtrans.respondWith(CANCEL_DONE);
    expect(await provider.cancelPayment(ORDER, call())).toEqual({ outcome: 'accepted' });
    expect(midtrans.requests[0]).toMatchObject({ method: 'POST', path: `/v2/${ORDER_ID}/cancel` });
    midtrans.respondWith(EXPIRE_DONE);
    expect(await provider.cancelPayment(ORDER, call())).toMatchObject({ outcome: 'indeterminate' });
  });

  it.each<[string, object]>([
    ['of another order', { order_id: 'LN-OTHER' }],
    ['of no order', { order_id: undefined }],
    ['of an order that was paid', { transaction_status: 'settlement' }],
    ['without a state', { transaction_status: undefined }],
  ])('a closing is indeterminate after a response %s', async (_, changes) => {
    midtrans.respondWith({ ...EXPIRE_DONE, ...changes });
    expect(await provider.expirePayment(ORDER, call())).toMatchObject({ outcome: 'indeterminate' });
    midtrans.respondWith({ ...CANCEL_DONE, ...changes });
    expect(await provider.cancelPayment(ORDER, call())).toMatchObject({ outcome: 'indeterminate' });
  });

  it.each([CANNOT_MODIFY, NOT_FOUND])('a closing is rejected by $status_code', async (body) => {
    midtrans.respondWith(body);
    const reason = `${body.status_code} ${body.status_message}`;
    expect(await provider.expirePayment(ORDER, call())).toEqual({ outcome: 'rejected', reason });
    expect(await provider.cancelPayment(ORDER, call())).toEqual({ outcome: 'rejected', reason });
  });

  it.each([WRONG_KEY, TOO_MANY, SERVER_ERROR])('a closing is indeterminate after $status_code', async (body) => {
    midtrans.respondWith(body);
    expect(await provider.expirePayment(ORDER, call())).toMatchObject({ outcome: 'indeterminate' });
    expect(await provider.cancelPayment(ORDER, call())).toMatchObject({ outcome: 'indeterminate' });
  });
});

describe('refundPayment', () => {
  it('sends our refund key', async () => {
    midtrans.respondWith(REFUND_DONE);
    expect(await provider.refundPayment(REFUND, call())).toEqual({ outcome: 'accepted' });
    expect(midtrans.requests[0]).toMatchObject({ method: 'POST', path: `/v2/${ORDER_ID}/refund` });
    expect(JSON.parse(midtrans.requests[0]?.body ?? '')).toEqual({
      refund_key: 'reference1',
      amount: TOTAL_RUPIAH,
      reason: 'out of stock',
    });
  });

  it.each([REFUND_DENIED, CANNOT_MODIFY, INVALID_REFUND_AMOUNT, NOT_FOUND])(
    'a refund is rejected by $status_code',
    async (body) => {
      midtrans.respondWith(body);
      expect(await provider.refundPayment(REFUND, call())).toEqual({
        outcome: 'rejected',
        reason: `${body.status_code} ${body.status_message}`,
      });
    },
  );

  it.each([DUPLICATE_REFUND, TOO_MANY, SERVER_ERROR])('a refund is indeterminate after $status_code', async (body) => {
    midtrans.respondWith(body);
    expect(await provider.refundPayment(REFUND, call())).toMatchObject({ outcome: 'indeterminate' });
  });
});
