import type { DerivedKeys } from './derived-keys';
import { isKeyedHashOf, keyedHash } from './keyed-hash';

const KEY = 'lunas request fingerprint';

/*
 * `payments.fingerprint` is a keyed hash of the digest, because the digest alone, the SHA-256 of the request, would
 * disclose a request that has few possibilities, such as a phone number.
 */

/** The fingerprint of a request under the current master key. */
export function currentFingerprint(digest: string, keys: DerivedKeys): string {
  return keyedHash(digest, keys.current(KEY));
}

/** @throws Error if the fingerprint was made with a master key that was neither configured nor retired */
export function isFingerprintOf(stored: string, digest: string, keys: DerivedKeys): Promise<boolean> {
  return isKeyedHashOf(stored, digest, KEY, keys);
}
