import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { createMidtransProvider } from '../../../src/providers/midtrans/midtrans-provider';
import { PAID_NOTIFICATION } from './published-messages';

const SERVER_KEY = 'askvnoibnosifnboseofinbofinfgbiufglnbfg';
const provider = createMidtransProvider({ baseUrl: 'http://127.0.0.1:9', serverKey: SERVER_KEY, notificationUrl: '' });

afterAll(() => provider.close());

/** The example of the documentation ("HTTP notification"): the signature starts and ends as published. */
const PUBLISHED = { order_id: '1111', status_code: '200', gross_amount: '100000.00' };

function signed(fields: { order_id: string; status_code: string; gross_amount: string }, serverKey = SERVER_KEY) {
  const { order_id, status_code, gross_amount } = fields;
  const signature_key = createHash('sha512')
    .update(order_id + status_code + gross_amount + serverKey)
    .digest('hex');
  return { ...PAID_NOTIFICATION, ...fields, signature_key };
}

function verify(notification: unknown) {
  const text = typeof notification === 'string' ? notification : JSON.stringify(notification);
  return provider.verifyNotification({ rawBody: Buffer.from(text), headers: {} });
}

it('accepts the published signature', () => {
  const notification = signed(PUBLISHED);
  expect(notification.signature_key).toMatch(/^edc076b2.*4c231$/);
  expect(verify(notification)).toMatchObject({ outcome: 'verified', referenceId: '1111', reportedStatus: 'paid' });
});

it('accepts the signature in either case', () => {
  const notification = signed(PUBLISHED);
  const upper = { ...notification, signature_key: notification.signature_key.toUpperCase() };
  expect(verify(upper)).toMatchObject({ outcome: 'verified' });
});

it.each([
  ['200', 'settlement', 'paid'],
  ['407', 'expire', 'expired'],
  ['200', 'cancel', 'cancelled'],
  ['202', 'deny', 'denied'],
  ['201', 'pending', 'pending'],
  ['201', 'settlement', 'pending'],
  ['200', 'pending', null],
  ['200', 'refund', 'refunded'],
  ['200', 'partial_refund', 'refunded'],
  ['200', 'chargeback', null],
  ['200', 'something', null],
])('a notification with code %s and status %s reports %s', (status_code, transaction_status, reportedStatus) => {
  const notification = { ...signed({ ...PUBLISHED, status_code }), transaction_status };
  expect(verify(notification)).toMatchObject({ outcome: 'verified', reportedStatus });
});

it('rejects the signature of another key, and of a body that was changed after it was signed', () => {
  expect(verify(signed(PUBLISHED, 'another key'))).toEqual({ outcome: 'invalid_signature' });
  for (const change of [{ order_id: '1112' }, { status_code: '201' }, { gross_amount: '1.00' }]) {
    expect(verify({ ...signed(PUBLISHED), ...change })).toEqual({ outcome: 'invalid_signature' });
  }
});

it.each([
  ['nothing', ''],
  ['half of it', JSON.stringify(signed(PUBLISHED)).slice(0, 60)],
  ['no signature', { ...signed(PUBLISHED), signature_key: undefined }],
  ['a short signature', { ...signed(PUBLISHED), signature_key: 'edc076b2' }],
  ['a signature that is no hex', { ...signed(PUBLISHED), signature_key: 'z'.repeat(128) }],
  ['a number for an order id', { ...signed(PUBLISHED), order_id: 1111 }],
  ['an order id of 51 characters', signed({ ...PUBLISHED, order_id: 'x'.repeat(51) })],
  ['a list', [signed(PUBLISHED)]],
  ['null', null],
  ['more than 64 kB', { ...signed(PUBLISHED), padding: 'x'.repeat(70_000) }],
  ['deeply nested JSON', '['.repeat(30_000)],
])('calls malformed: %s', (_, notification) => {
  expect(verify(notification)).toEqual({ outcome: 'malformed' });
});

it('verifies no random bytes, and does not throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const { outcome } = provider.verifyNotification({ rawBody: Buffer.from(bytes), headers: {} });
        expect(outcome).not.toBe('verified');
      },
    ),
  );
});
