import { hash } from 'node:crypto';
import type { DerivedKeys } from '../../../crypto/derived-keys';
import { currentFingerprint, isFingerprintOf } from '../../../crypto/request-fingerprint';
import type { PaymentRequest } from './payment-request';

/** The fingerprint of a new payment: equal requests have equal ones, and without the key it discloses nothing. */
export function fingerprintOf(request: PaymentRequest, keys: DerivedKeys): string {
  return currentFingerprint(digestOf(request), keys);
}

/** Whether a stored fingerprint, under whichever key, is that of this request. */
export function isSameRequest(stored: string, request: PaymentRequest, keys: DerivedKeys): Promise<boolean> {
  return isFingerprintOf(stored, digestOf(request), keys);
}

/**
 * SHA-256 of the request in canonical form, hex: equal exactly for requests for the same payment. Absent fields are
 * left out, so that a new optional field does not change old digests. Such a field must be absent by default.
 */
export function digestOf(request: PaymentRequest): string {
  return hash('sha256', canonicalJson(request));
}

function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const present = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  const members = present.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}
