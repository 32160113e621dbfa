import { hash } from 'node:crypto';
import type { DerivedKeys } from '../../../crypto/derived-keys';
import { currentFingerprint, isFingerprintOf } from '../../../crypto/request-fingerprint';
import { CURRENCY } from '../../../domain/provider-capabilities';
import type { NewPayment } from './new-payment';

/** The fingerprint of a new payment: equal requests have equal ones, and without the key it discloses nothing. */
export function fingerprintOf(request: NewPayment, keys: DerivedKeys): string {
  return currentFingerprint(digestOf(request), keys);
}

/** Whether a stored fingerprint, under whichever key, is that of this request. */
export function isSameRequest(stored: string, request: NewPayment, keys: DerivedKeys): Promise<boolean> {
  return isFingerprintOf(stored, digestOf(request), keys);
}

/**
 * SHA-256 of the request in canonical form, hex: equal exactly for requests for the same payment. Absent fields are
 * left out, so that a new optional field does not change old digests. Such a field must be absent by default. The names
 * are those of the contract (docs/contract.md#create): with others, a repeat of an old request would be another one.
 */
export function digestOf(request: NewPayment): string {
  const { amountRupiah, paymentMethod, provider, merchantReferenceId, customer, metadata } = request;
  const { expiresInSeconds, description, returnUrl } = request;
  const fields = {
    amount: amountRupiah,
    currency: CURRENCY,
    payment_method: paymentMethod,
    provider,
    merchant_reference_id: merchantReferenceId,
    customer,
    metadata,
    expires_in: expiresInSeconds,
    description,
    return_url: returnUrl,
  };
  return hash('sha256', canonicalJson(fields));
}

function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const present = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  const members = present.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}
