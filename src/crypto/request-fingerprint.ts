import { createHmac, type KeyObject } from 'node:crypto';
import type { DerivedKeys } from './derived-keys';

const FORMAT = 'v1';
const KEY = 'lunas request fingerprint';

/*
 * `payments.fingerprint` is `v1.<key id>.<HMAC-SHA256 of the digest>`. The digest alone, the SHA-256 of the request,
 * would disclose a request that has few possibilities, such as a phone number.
 */

/** The fingerprint of a request under the current master key. */
export function currentFingerprint(digest: string, keys: DerivedKeys): string {
  const { keyId, key } = keys.current(KEY);
  return keyed(digest, keyId, key);
}

/** The id of the master key that a fingerprint was made with. */
export function keyIdOf(fingerprint: string): string {
  const [, keyId = ''] = fingerprint.split('.');
  return keyId;
}

/** @throws Error if the fingerprint was made with a master key that was neither configured nor retired */
export async function isFingerprintOf(stored: string, digest: string, keys: DerivedKeys): Promise<boolean> {
  const keyId = keyIdOf(stored);
  const key = await keys.find(KEY, keyId);
  if (!key) throw new Error(`A request fingerprint was made with master key ${keyId}, which is not known`);
  return stored === keyed(digest, keyId, key);
}

function keyed(digest: string, keyId: string, key: KeyObject): string {
  return [FORMAT, keyId, createHmac('sha256', key).update(digest).digest('hex')].join('.');
}
