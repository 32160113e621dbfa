import type { FirstAnswer } from '../../db/reads/find-first-answer';
import { ApiError } from '../api-error';
import { fingerprintOf } from './payment-request';
import type { WantedPayment } from './payment-terms';

/** Header of an answer that was given before. */
export const REPLAYED = { 'Idempotency-Replayed': 'true' } as const;

/** @param at which item of a bulk, for the message */
export function requireSamePayment({ payment }: FirstAnswer, { request }: WantedPayment, at = ''): void {
  if (payment.fingerprint === fingerprintOf(request)) return;
  throw new ApiError('payment_create_failed', `${at}This idempotency key belongs to a payment with other contents.`);
}

/** Why the provider did not issue a QR, in the words of a refusal. */
export function refusalOf({ payment }: FirstAnswer): ApiError {
  const reason = (payment.failureReason ?? 'no reason given').replace(/\.$/, '');
  return new ApiError('payment_create_failed', `The transaction could not be created: ${reason}.`);
}
