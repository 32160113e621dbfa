import type { DerivedKeys } from '../../../crypto/derived-keys';
import type { EarlierCreation, OriginalResponse } from '../../../db/payments/find-original-response';
import { CreationRejectedError } from './create-rejection';
import type { PaymentDraft } from './payment-draft';
import { isSameRequest } from './request-fingerprint';

/**
 * The result of an earlier request with the key.
 * @throws CreationRejectedError if the key was used for another payment, or for one that is archived
 */
export async function requireSameRequest(
  { derivedKeys }: { readonly derivedKeys: DerivedKeys },
  earlier: EarlierCreation,
  { request, fingerprint }: PaymentDraft,
): Promise<OriginalResponse> {
  if (earlier === 'archived') throw new CreationRejectedError({ reason: 'idempotency_key_archived' });
  const stored = earlier.payment.fingerprint;
  if (stored === fingerprint || (await isSameRequest(stored, request, derivedKeys))) return earlier;
  throw new CreationRejectedError({ reason: 'idempotency_key_reused' });
}
