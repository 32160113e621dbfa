import { hash } from 'node:crypto';
import type { DerivedKeys } from '../../crypto/derived-keys';
import { currentFingerprint, isFingerprintOf } from '../../crypto/request-fingerprint';
import type { LinkTerms } from '../../domain/payment-link';

/** The fingerprint of a new link: it detects another request with the same idempotency key. */
export function linkFingerprint(terms: LinkTerms, keys: DerivedKeys): string {
  return currentFingerprint(digestOf(terms), keys);
}

/** Whether a stored fingerprint, under whichever key, is that of these terms. */
export function isSameLink(stored: string, terms: LinkTerms, keys: DerivedKeys): Promise<boolean> {
  return isFingerprintOf(stored, digestOf(terms), keys);
}

/** In a fixed order, under the names of the API. What is null is left out, so a new term changes no old digest. */
function digestOf(terms: LinkTerms): string {
  const fields = [
    ['kind', terms.kind],
    ['title', terms.title],
    ['amount', terms.amountRupiah],
    ['minimum_amount', terms.minimumRupiah],
    ['maximum_amount', terms.maximumRupiah],
    ['provider', terms.provider],
    ['merchant_reference_id', terms.merchantReferenceId],
    ['expires_at', terms.expiresAt?.toISOString() ?? null],
    ['payment_expires_in', terms.paymentExpiresInSeconds],
    ['return_url', terms.returnUrl],
  ].filter(([, value]) => value !== null);
  return hash('sha256', JSON.stringify(fields));
}
