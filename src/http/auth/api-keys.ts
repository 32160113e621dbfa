import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../db/connection/pool';
import { findApiKey, recordKeyUse, type ApiKeyRow } from '../../db/merchants/find-api-key';

/** A change by an operator is in force on every process after at most 1 s (design). Half of it remains for the read. */
const FRESH_MS = 500;
const MAX_KEYS = 10_000;
const MINUTE_MS = 60_000;

interface KeyQuery {
  readonly secretSha256: Buffer;
  readonly address: string;
}

/**
 * Secret keys, and whether they may be used from an address. Each key and address is read from PostgreSQL at most once
 * in half a second; concurrent requests share one read. Keys that do not exist are not cached.
 */
export class ApiKeys {
  readonly #db: Queryable;
  readonly #cache: LRUCache<string, ApiKeyRow, KeyQuery>;
  /** The keys whose use was recorded in the last minute. */
  readonly #recentlyUsed = new LRUCache<string, true>({ max: MAX_KEYS, ttl: MINUTE_MS });

  constructor(db: Queryable) {
    this.#db = db;
    this.#cache = new LRUCache<string, ApiKeyRow, KeyQuery>({
      max: MAX_KEYS,
      ttl: FRESH_MS,
      fetchMethod: (_name, _stale, { context }) => findApiKey(db, context.secretSha256, context.address),
    });
  }

  /** @param address of `clientAddress` */
  find(secretSha256: Buffer, address: string): Promise<ApiKeyRow | undefined> {
    const context = { secretSha256, address };
    return this.#cache.fetch(`${secretSha256.toString('hex')} ${address}`, { context });
  }

  /** Records when and from where the key was last used. Best effort, and no request waits for it. */
  recordUse(keyId: string, address: string): void {
    if (this.#recentlyUsed.has(keyId)) return;
    this.#recentlyUsed.set(keyId, true);
    recordKeyUse(this.#db, keyId, address).catch(() => undefined);
  }
}
