import type { OriginalResponse } from '../../../db/queries/find-original-response';
import { ApiError } from '../../api-error';
import type { EndpointResponse } from '../../endpoint';
import type { ApiDependencies } from '../../dependencies';
import type { PaymentDraft } from './capture-terms';
import { isSameRequest } from './request-fingerprint';

/** Header of an idempotent replay. */
export const REPLAYED_HEADER = { 'Idempotency-Replayed': 'true' } as const;

/** @throws ApiError if the key was used for another payment */
export async function assertSameRequest(
  { derivedKeys }: ApiDependencies,
  { payment }: OriginalResponse,
  { request }: PaymentDraft,
): Promise<void> {
  if (await isSameRequest(payment.fingerprint, request, derivedKeys)) return;
  throw new ApiError('payment_create_failed', 'This idempotency key belongs to a payment with other contents.');
}

/** The error response of a payment for which the provider did not issue a QR. */
export function toApiError({ payment }: OriginalResponse, headers: EndpointResponse['headers'] = {}): ApiError {
  const reason = (payment.failureReason ?? 'no reason given').replace(/\.$/, '');
  return new ApiError('payment_create_failed', `The transaction could not be created: ${reason}.`, { headers });
}
