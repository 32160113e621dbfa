import { createSecretKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../db/connection/pool';
import { DERIVED_KEY_LABELS, type DerivedKeyLabel } from './master-keys';
import type { Sealer } from './sealing';

/** A master key is retired rarely, and invalid QR links must not cost a statement each. */
const FRESH_MS = 10_000;

/**
 * The derived keys of all master keys that were ever current. Those of the key ring are computed; those of older master
 * keys were stored by `lunas keys reseal`, so that an old master key is not needed any more.
 */
export class DerivedKeys {
  readonly #retired: LRUCache<DerivedKeyLabel, ReadonlyMap<string, KeyObject>>;

  constructor(
    db: Queryable,
    private readonly sealer: Sealer,
  ) {
    this.#retired = new LRUCache<DerivedKeyLabel, ReadonlyMap<string, KeyObject>>({
      max: DERIVED_KEY_LABELS.length,
      ttl: FRESH_MS,
      // A retired key never changes: it is known also without PostgreSQL. With `allowStaleOnFetchRejection` a label
      // that was never read would have no keys, and what they encrypted would not be authentic.
      fetchMethod: (label, known) =>
        readRetiredKeys(db, sealer, label).catch((error: unknown) => {
          if (known) return known;
          throw error;
        }),
    });
  }

  /** The derived key of the current master key, and that master key's id. */
  current(label: DerivedKeyLabel): { readonly keyId: string; readonly key: KeyObject } {
    const { current } = this.sealer.keys;
    return { keyId: current.id, key: current.derive(label) };
  }

  /** The derived keys of the key ring; the current one first. */
  ofRing(label: DerivedKeyLabel): readonly KeyObject[] {
    return this.sealer.keys.all.map((masterKey) => masterKey.derive(label));
  }

  /** The derived keys of retired master keys, by the id of the master key. */
  async retired(label: DerivedKeyLabel): Promise<ReadonlyMap<string, KeyObject>> {
    return (await this.#retired.fetch(label)) ?? new Map();
  }

  /** @returns undefined if this master key was neither configured nor retired */
  async find(label: DerivedKeyLabel, keyId: string): Promise<KeyObject | undefined> {
    return this.sealer.keys.byId(keyId)?.derive(label) ?? (await this.retired(label)).get(keyId);
  }
}

async function readRetiredKeys(
  db: Queryable,
  sealer: Sealer,
  label: DerivedKeyLabel,
): Promise<ReadonlyMap<string, KeyObject>> {
  const { rows } = await db.query<{ keyId: string; sealed: string }>(
    'select key_id as "keyId", sealed from retired_keys where label = $1',
    [label],
  );
  return new Map(
    rows.map(({ keyId, sealed }) => [
      keyId,
      createSecretKey(sealer.open(sealed, ['retired-key', keyId, label]), 'base64'),
    ]),
  );
}

/** Stores the derived keys of the old master keys, sealed with the current one. Repeatable. */
export async function retireOldKeys(db: Queryable, sealer: Sealer): Promise<void> {
  for (const masterKey of sealer.keys.all.slice(1)) {
    for (const label of DERIVED_KEY_LABELS) {
      const derived = masterKey.derive(label).export().toString('base64');
      await db.query(
        'insert into retired_keys (key_id, label, sealed) values ($1, $2, $3) on conflict (key_id, label) do nothing',
        [masterKey.id, label, sealer.seal(derived, ['retired-key', masterKey.id, label])],
      );
    }
  }
}
