import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/**
 * The keys that are derived from a master key, each with its own purpose. A label is part of the derivation: never
 * change one. `lunas keys reseal` keeps the derived keys of old master keys in the table `retired_keys`.
 */
export const DERIVED_KEY_LABELS = [
  'lunas qris links',
  'lunas request fingerprint',
  'lunas sealed value hashes',
  'lunas temporal payloads',
] as const;
/** The key of cursors is not kept: a cursor is valid for three days, and without it a stream begins now. */
export type DerivedKeyLabel = (typeof DERIVED_KEY_LABELS)[number] | 'lunas stream cursors';

/**
 * One master key: 32 random bytes. Keys are objects of Node.js, not bytes: no log prints them, and an HMAC with one of
 * them takes 2 µs instead of 12 (Node.js 24).
 */
export class MasterKey {
  /** The first bytes of its SHA-256: it names the key in sealed values and in messages, and discloses nothing. */
  readonly id: string;
  readonly key: KeyObject;
  readonly #derived = new Map<DerivedKeyLabel, KeyObject>();

  /** @param base64 32 bytes in base64 */
  constructor(base64: string) {
    const bytes = Buffer.from(base64, 'base64');
    this.key = createSecretKey(bytes);
    this.id = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
  }

  /**
   * A key for one purpose. It discloses neither the master key nor other derived keys. HMAC-SHA256 is enough: a master
   * key is random, so HKDF's extract step would add nothing (RFC 5869, section 3.3).
   */
  derive(label: DerivedKeyLabel): KeyObject {
    const known = this.#derived.get(label);
    if (known) return known;
    const derived = createSecretKey(createHmac('sha256', this.key).update(label).digest());
    this.#derived.set(label, derived);
    return derived;
  }
}

/** The master keys by id: the current one encrypts, the old ones only decrypt. */
export class KeyRing {
  readonly current: MasterKey;
  readonly #byId: ReadonlyMap<string, MasterKey>;

  /** @param masterKey 32 bytes in base64 (`LUNAS_MASTER_KEY`), like each of the old ones (`LUNAS_OLD_MASTER_KEYS`) */
  constructor(masterKey: string, oldMasterKeys: readonly string[] = []) {
    this.current = new MasterKey(masterKey);
    const all = [this.current, ...oldMasterKeys.map((key) => new MasterKey(key))];
    this.#byId = new Map(all.map((key) => [key.id, key]));
  }

  /** The current key first. */
  get all(): readonly MasterKey[] {
    return [...this.#byId.values()];
  }

  byId(id: string): MasterKey | undefined {
    return this.#byId.get(id);
  }
}
