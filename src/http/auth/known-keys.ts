import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../db/connection/pool';

const FRESH_MS = 1_000;

/**
 * The hashes of all keys that were ever issued, for callers that send many unknown keys. PostgreSQL is read at most
 * once a second for all of them together. A new key is in the list after a second.
 */
export class KnownKeys {
  readonly #hashes: LRUCache<'all', ReadonlySet<string>>;

  constructor(db: Queryable) {
    this.#hashes = new LRUCache<'all', ReadonlySet<string>>({
      max: 1,
      ttl: FRESH_MS,
      // An unknown key does not wait for the next read.
      allowStale: true,
      fetchMethod: () => readHashes(db),
    });
  }

  /** Whether the key exists, or existed. */
  async has(secretSha256: Buffer): Promise<boolean> {
    const hashes = await this.#hashes.fetch('all');
    return hashes?.has(secretSha256.toString('hex')) ?? false;
  }
}

async function readHashes(db: Queryable): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ hash: string }>({
    name: 'list_key_hashes',
    text: `select encode(secret_sha256, 'hex') as hash from api_keys
      union all select encode(secret_sha256, 'hex') from operators`,
  });
  return new Set(rows.map(({ hash }) => hash));
}
