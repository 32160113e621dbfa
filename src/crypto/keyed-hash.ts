import { createHmac, type KeyObject } from 'node:crypto';
import type { DerivedKeys } from './derived-keys';
import type { DERIVED_KEY_LABELS } from './master-keys';

const FORMAT = 'v1';

/** A key whose hashes stay valid after its master key is gone. */
type Label = (typeof DERIVED_KEY_LABELS)[number];

/**
 * `v1.<key id>.<HMAC-SHA256>`. A hash without a key would disclose a text that has few possibilities, such as the
 * number of a bank account: its reader would hash each of them.
 * @param derived a derived key, and the id of its master key
 */
export function keyedHash(text: string, derived: { readonly keyId: string; readonly key: KeyObject }): string {
  return [FORMAT, derived.keyId, createHmac('sha256', derived.key).update(text).digest('hex')].join('.');
}

/** The id of the master key that a hash was made with. */
export function keyIdOf(hash: string): string {
  const [, keyId = ''] = hash.split('.');
  return keyId;
}

/**
 * Whether a stored hash is that of a text, also if its master key is retired.
 * @throws Error if it was made with a master key that was neither configured nor retired
 */
export async function isKeyedHashOf(stored: string, text: string, label: Label, keys: DerivedKeys): Promise<boolean> {
  const keyId = keyIdOf(stored);
  const key = await keys.find(label, keyId);
  if (!key) throw new Error(`A keyed hash (${label}) was made with master key ${keyId}, which is not known`);
  return stored === keyedHash(text, { keyId, key });
}
