import { rejectionError } from '../../../../src/api/payments/create-payment/rejection-error';
import type { CreateReason } from '../../../../src/services/payments/create/create-rejection';
import { CREATE_REJECTIONS } from '../../../support/create-rejections';

const { provider_rejected, creates_in_flight, fee_reaches_amount } = CREATE_REJECTIONS;

/** Merchants' programs read codes and reasons; their developers the messages. */
const RESPONSES: Readonly<Record<CreateReason, readonly [status: number, code: string, message: string]>> = {
  payment_method_inactive: [400, 'unsupported_payment_method', 'qris is not active for you.'],
  provider_not_enabled: [400, 'payment_create_failed', 'provider shopeepay is not enabled for you.'],
  provider_unavailable: [400, 'payment_create_failed', 'provider gopay is not available at present.'],
  fee_reaches_amount: [400, 'payment_create_failed', 'amount does not exceed its fee of Rp 1.250, which you pay.'],
  total_too_large: [400, 'invalid_amount', 'amount and its fee of Rp 70.000 exceed Rp 10.000.000.'],
  return_url_not_allowed: [
    400,
    'payment_create_failed',
    'return_url must be at an address of your shop: register https://other.example first.',
  ],
  idempotency_key_reused: [
    400,
    'payment_create_failed',
    'This idempotency key belongs to a payment with other contents. Use a new key.',
  ],
  idempotency_key_archived: [
    400,
    'payment_create_failed',
    'This idempotency key belongs to a payment that is archived. Use a new key for a new payment.',
  ],
  creates_in_flight: [429, 'rate_limited', 'Too many creations are in flight; try again in 1 s.'],
  provider_rejected: [400, 'payment_create_failed', 'The transaction could not be created: the provider rejected it.'],
};

it.each(Object.values(CREATE_REJECTIONS))('$reason has its status, code, message and X-Error-Reason', (rejection) => {
  const { httpStatus, body, headers } = rejectionError(rejection);
  expect([httpStatus, body.error.code, body.error.message]).toEqual(RESPONSES[rejection.reason]);
  expect(headers['X-Error-Reason']).toBe(rejection.reason);
});

it('only a repeat of a rejection by the provider has the headers of a repeat', () => {
  expect(rejectionError(provider_rejected).headers).toEqual({
    'Idempotency-Replayed': 'true',
    'X-Payment-Status': 'failed',
    'X-Error-Reason': 'provider_rejected',
  });
  const first = rejectionError({ ...provider_rejected, isRepeat: false });
  expect(first.headers).toEqual({ 'X-Error-Reason': 'provider_rejected' });
});

it('a rejection by the provider ends with one full stop, also without a reason', () => {
  const messageOf = (failureReason: string | null) => rejectionError({ ...provider_rejected, failureReason }).message;
  expect(messageOf('Limit reached.')).toBe('The transaction could not be created: Limit reached.');
  expect(messageOf(null)).toBe('The transaction could not be created: no reason given.');
});

it('a merchant without a slot learns when to repeat the request, and only the log has its id', () => {
  const { headers, message, internal } = rejectionError(creates_in_flight);
  expect(headers).toEqual({ 'Retry-After': '1', 'X-Error-Reason': 'creates_in_flight' });
  expect(message).not.toContain('merchant-1');
  expect(internal).toBe('no slot for merchant merchant-1 at gopay');
});

it('the rejection of an item names the item for the caller and in the log', () => {
  const { message, internal } = rejectionError(fee_reaches_amount, 3);
  expect(message).toBe('payments[3]: amount does not exceed its fee of Rp 1.250, which you pay.');
  expect(internal).toBe(message);
});
