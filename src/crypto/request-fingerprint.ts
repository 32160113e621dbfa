import { createHmac, type KeyObject } from 'node:crypto';
import type { DerivedKeys } from './derived-keys';

const FORMAT = 'v2';
const KEY = 'lunas request fingerprint';

/*
 * `payments.fingerprint` is `v2.<key id>.<HMAC-SHA256 of the digest>`. Older rows have the bare digest, the SHA-256 of
 * the request. That discloses a request that has few possibilities, such as a phone number.
 */

/** The fingerprint of a request under the current master key. */
export function currentFingerprint(digest: string, keys: DerivedKeys): string {
  const { keyId, key } = keys.current(KEY);
  return keyed(digest, keyId, key);
}

/** The id of the master key of a fingerprint; undefined for a bare digest. */
export function keyIdOf(fingerprint: string): string | undefined {
  const [format, keyId] = fingerprint.split('.');
  return format === FORMAT ? keyId : undefined;
}

/** @throws Error if the fingerprint was made with a master key that was neither configured nor retired */
export async function isFingerprintOf(stored: string, digest: string, keys: DerivedKeys): Promise<boolean> {
  const keyId = keyIdOf(stored);
  if (keyId === undefined) return stored === digest;
  const key = await keys.find(KEY, keyId);
  if (!key) throw new Error(`A request fingerprint was made with master key ${keyId}, which is not known`);
  return stored === keyed(digest, keyId, key);
}

function keyed(digest: string, keyId: string, key: KeyObject): string {
  return [FORMAT, keyId, createHmac('sha256', key).update(digest).digest('hex')].join('.');
}
