import type { EarlierCreation, OriginalResponse } from '../../../db/payments/find-original-response';
import { ApiError } from '../../../http/api-error';
import type { EndpointResponse } from '../../../http/endpoint';
import type { ApiDependencies } from '../../dependencies';
import type { PaymentDraft } from './capture-terms';
import { isSameRequest } from './request-fingerprint';

/** Header of an idempotent replay. */
export const REPLAYED_HEADER = { 'Idempotency-Replayed': 'true' } as const;

/** The same for one payment. The body is that of the first response, so the current status is a header. */
export function replayHeaders({ payment }: OriginalResponse) {
  return { ...REPLAYED_HEADER, 'X-Payment-Status': payment.status };
}

/**
 * The response to an earlier request with the key.
 * @throws ApiError if the key was used for another payment, or for one that is archived
 */
export async function requireSameRequest(
  { derivedKeys }: Pick<ApiDependencies, 'derivedKeys'>,
  earlier: EarlierCreation,
  { request, fingerprint }: PaymentDraft,
): Promise<OriginalResponse> {
  if (earlier === 'archived') {
    throw new ApiError(
      'idempotency_key_archived',
      'This idempotency key belongs to a payment that is archived. Use a new key for a new payment.',
    );
  }
  const stored = earlier.payment.fingerprint;
  if (stored === fingerprint || (await isSameRequest(stored, request, derivedKeys))) return earlier;
  const message = 'This idempotency key belongs to a payment with other contents. Use a new key.';
  throw new ApiError('idempotency_key_reused', message);
}

/** The error response of a payment for which the provider did not issue a QR. */
export function toApiError({ payment }: OriginalResponse, headers: EndpointResponse['headers'] = {}): ApiError {
  const reason = (payment.failureReason ?? 'no reason given').replace(/\.$/, '');
  return new ApiError('provider_rejected', `The transaction could not be created: ${reason}.`, { headers });
}
