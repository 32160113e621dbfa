import { LRUCache } from 'lru-cache';
import { findApiKey, type ApiKeyRow } from '../../db/queries/find-api-key';
import type { Queryable } from '../../db/pool';

/** A change by an operator is in force on every process after at most 1 s (design). Half of it remains for the read. */
const FRESH_MS = 500;
const MAX_KEYS = 10_000;

interface KeyQuery {
  readonly secretSha256: Buffer;
  readonly address: string;
}

/**
 * Secret keys, and whether they may be used from an address. Each key and address is read from PostgreSQL at most once
 * in half a second; concurrent requests share one read. Keys that do not exist are not cached.
 */
export class ApiKeys {
  readonly #cache: LRUCache<string, ApiKeyRow, KeyQuery>;

  constructor(db: Queryable) {
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
}
