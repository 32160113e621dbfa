import { createHash } from 'node:crypto';

/**
 * Names a provider's server key without showing it: SHA-256, in hexadecimal. An operator who has the key compares it
 * with `printf %s "$KEY" | sha256sum`. Such a key is random and long, so it cannot be guessed from its fingerprint.
 */
export function keyFingerprint(serverKey: string): string {
  return createHash('sha256').update(serverKey).digest('hex');
}
