import { LRUCache } from 'lru-cache';
import { findApiKey, type ApiKeyRow } from '../../db/queries/find-api-key';
import type { Queryable } from '../../db/pool';

/** What an operator changes is in force within a second on every process (design); half of it is left for the read itself. */
const FRESH_MS = 500;
const MAX_KEYS = 10_000;

interface Question {
  readonly secretSha256: Buffer;
  readonly address: string;
}

/**
 * The keys that callers come with, and whether they may use them from where they are: read from the database once in half a second
 * for each key and address, and once for all requests that ask at the same time. Keys that do not exist are not remembered.
 */
export class ApiKeys {
  readonly #known: LRUCache<string, ApiKeyRow, Question>;

  constructor(db: Queryable) {
    this.#known = new LRUCache<string, ApiKeyRow, Question>({
      max: MAX_KEYS,
      ttl: FRESH_MS,
      fetchMethod: (_name, _stale, { context }) => findApiKey(db, context.secretSha256, context.address),
    });
  }

  /** @param address of `clientAddress` */
  find(secretSha256: Buffer, address: string): Promise<ApiKeyRow | undefined> {
    const context = { secretSha256, address };
    return this.#known.fetch(`${secretSha256.toString('hex')} ${address}`, { context });
  }
}
