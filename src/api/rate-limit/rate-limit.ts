import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { createPool } from '../../db/pool';
import type { Logger } from '../../logger';

export interface RateLimitSettings {
  readonly databaseUrl: string;
  /** `RATE_LIMIT_PER_MINUTE` */
  readonly requestsPerMinute: number;
  readonly log: Logger;
}

/** Where a key stands after a request. */
export interface RateLimitStatus {
  readonly allowed: boolean;
  /** Requests a minute. */
  readonly limit: number;
  /** What is left of them, as far as this process knows. */
  readonly remaining: number;
  /** Until the key's minute ends and all of them are there again. */
  readonly resetSeconds: number;
}

/** This process's part of a key's minute. */
interface LocalQuota {
  /** Unknown before the table has been asked. */
  deadlineAtMs: number;
  /** Taken out of the table and not yet used. */
  held: number;
  used: number;
  /** Left in the table when it was last asked. */
  left: number;
  /** One statement at a time for a key; who comes meanwhile waits for it. */
  asking: Promise<void> | undefined;
}

const MINUTE_MS = 60_000;
/** A process takes at most this part of what is left at a time, so that the last requests are shared out one by one. */
const MAX_PREFETCH_FRACTION = 1 / 8;

/** The table must not hold up requests: after this the process goes on without it, for a while for every key. */
const STORE_TIMEOUT_MS = 2_000;
const FALLBACK_MS = 30_000;
/** Connections of its own: a table that hangs takes none from the requests themselves. */
const CONNECTIONS = 2;

/**
 * The requests that each key may make in a minute: one budget over all API processes, counted in PostgreSQL.
 *
 * A process takes requests out of the table ahead of their use, at first one, then as many as it has used so far, so
 * that a busy key costs a statement in about ten requests, and a spent one none before its minute ends. What is taken
 * is counted, so all processes together never allow more than the limit in a minute; up to an eighth of it may lie
 * unused in a process that the merchant's requests no longer reach.
 *
 * The minute begins with a key's first request. It fails open: where the table does not answer, each process allows the
 * limit by itself until the minute ends. Refusing payments, or keeping them waiting, would cost merchants more than
 * some requests too many cost us.
 */
export class RateLimit {
  readonly #limit: number;
  readonly #log: Logger;
  readonly #db;
  readonly #table;
  readonly #shares = new Map<string, LocalQuota>();
  #fallbackUntilMs = 0;
  #nextSweepMs = Date.now() + MINUTE_MS;

  constructor({ databaseUrl, requestsPerMinute, log }: RateLimitSettings) {
    this.#limit = requestsPerMinute;
    this.#log = log;
    this.#db = createPool(databaseUrl, {
      max: CONNECTIONS,
      connectionTimeoutMs: STORE_TIMEOUT_MS,
      statementTimeoutMs: STORE_TIMEOUT_MS,
      // Kept: to connect takes far longer than to count.
      idleTimeoutMillis: 0,
    });
    this.#table = new RateLimiterPostgres({
      storeClient: this.#db,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      // Its timer outlives `close`.
      clearExpiredByTimeout: false,
      keyPrefix: '',
      points: requestsPerMinute,
      duration: MINUTE_MS / 1000,
    });
  }

  /** Counts a request of the key, unless its limit is reached. */
  async take(keyId: string): Promise<RateLimitStatus> {
    const quota = this.#quotaFor(keyId);
    while (quota.held === 0 && quota.left > 0) {
      quota.asking ??= this.#refill(keyId, quota).finally(() => (quota.asking = undefined));
      await quota.asking;
    }
    const allowed = quota.held > 0;
    if (allowed) {
      quota.held -= 1;
      quota.used += 1;
    }
    return {
      allowed,
      limit: this.#limit,
      remaining: quota.held + quota.left,
      resetSeconds: Math.max(Math.ceil((quota.deadlineAtMs - Date.now()) / 1000), 1),
    };
  }

  async close(): Promise<void> {
    await this.#db.end();
  }

  #quotaFor(keyId: string): LocalQuota {
    const known = this.#shares.get(keyId);
    if (known && Date.now() < known.deadlineAtMs) return known;
    this.#sweep();
    const quota: LocalQuota = { deadlineAtMs: Infinity, held: 0, used: 0, left: this.#limit, asking: undefined };
    this.#shares.set(keyId, quota);
    return quota;
  }

  async #refill(keyId: string, quota: LocalQuota): Promise<void> {
    if (Date.now() < this.#fallbackUntilMs) return this.#useLocalFallback(quota);
    const requested = Math.min(Math.max(quota.used, 1), Math.ceil(quota.left * MAX_PREFETCH_FRACTION));
    try {
      const { consumedPoints, msBeforeNext } = await this.#table.penalty(keyId, requested);
      quota.left = Math.max(this.#limit - consumedPoints, 0);
      quota.held = Math.min(Math.max(this.#limit - consumedPoints + requested, 0), requested);
      quota.deadlineAtMs = Date.now() + msBeforeNext;
    } catch (error) {
      this.#fallbackUntilMs = Date.now() + FALLBACK_MS;
      this.#log.warn({ err: error }, 'the rate limit table does not answer: this process counts by itself for a while');
      this.#useLocalFallback(quota);
    }
  }

  #useLocalFallback(quota: LocalQuota): void {
    quota.held = Math.max(this.#limit - quota.used, 0);
    quota.left = 0;
    quota.deadlineAtMs = Math.min(quota.deadlineAtMs, Date.now() + MINUTE_MS);
  }

  /** Forgets minutes that are over, here and in the table; once a minute, by whoever comes first. */
  #sweep(): void {
    const nowMs = Date.now();
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + MINUTE_MS;
    for (const [keyId, quota] of this.#shares) if (quota.deadlineAtMs <= nowMs) this.#shares.delete(keyId);
    this.#db
      .query('delete from rate_limits where expire < $1', [nowMs - MINUTE_MS])
      .catch((error: unknown) => this.#log.warn({ err: error }, 'expired rate limits could not be deleted'));
  }
}
