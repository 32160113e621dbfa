import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { createPool } from '../../db/connection/pool';
import type { Logger } from '../../observability/logger';

export interface RateLimitSettings {
  readonly databaseUrl: string;
  /** The limit of one key (`RATE_LIMIT_PER_MINUTE`). */
  readonly requestsPerMinute: number;
  /** The limit of all keys of a merchant (`MERCHANT_RATE_LIMIT_PER_MINUTE`); by default that of a key. */
  readonly merchantRequestsPerMinute?: number;
  readonly log: Logger;
}

/** The state of a budget after a request. A budget is that of a key, of a merchant or of an operator. */
export interface RateLimitStatus {
  readonly allowed: boolean;
  /** Requests a minute. */
  readonly limit: number;
  /** Remaining requests, as far as this process has read them. */
  readonly remaining: number;
  /** Until the budget's minute ends. */
  readonly resetSeconds: number;
}

/** This process's part of a budget's minute. */
interface LocalQuota {
  /** Requests a minute. */
  readonly limit: number;
  /** `Infinity` before the first read of the table. */
  deadlineAtMs: number;
  /** Taken from the table and not yet used. */
  held: number;
  used: number;
  /** Left in the table at the last read. */
  left: number;
  /** One statement at a time per budget; other requests of the budget wait for it. */
  refill: Promise<void> | undefined;
}

const MINUTE_MS = 60_000;
/** A process takes at most this part of the rest at a time, so that the last requests are distributed one by one. */
const MAX_PREFETCH_FRACTION = 1 / 8;

/** The table must not delay requests: after this timeout the process counts every budget locally for a while. */
const STORE_TIMEOUT_MS = 2_000;
const FALLBACK_MS = 30_000;
/** A pool of its own: a blocked table takes no connections from the requests. */
const CONNECTIONS = 2;

/**
 * Limits the requests per minute: one budget over all API processes, counted in PostgreSQL by its id.
 *
 * A process takes requests from the table ahead of their use: at first one, then as many as it has used so far. So a
 * busy key costs a statement in about ten requests, and an exhausted one none before its minute ends. All requests
 * taken are counted, so all processes together never allow more than the limit. Up to an eighth of it may stay unused
 * in a process that no longer receives the merchant's requests.
 *
 * The minute starts with the first request of a budget. The limit fails open: if the table is unavailable, each process
 * allows the limit by itself until the minute ends. Rejected or delayed payments would cost merchants more than some
 * requests above the limit. The `insuranceLimiter` of rate-limiter-flexible would wait for the timeout at every
 * request.
 */
export class RateLimit {
  readonly keyLimit: number;
  readonly merchantLimit: number;
  readonly #log: Logger;
  readonly #db;
  readonly #table;
  readonly #quotas = new Map<string, LocalQuota>();
  #fallbackUntilMs = 0;
  #nextSweepMs = Date.now() + MINUTE_MS;

  constructor({ databaseUrl, requestsPerMinute, merchantRequestsPerMinute, log }: RateLimitSettings) {
    this.keyLimit = requestsPerMinute;
    this.merchantLimit = merchantRequestsPerMinute ?? requestsPerMinute;
    this.#log = log;
    this.#db = createPool(databaseUrl, {
      max: CONNECTIONS,
      connectionTimeoutMs: STORE_TIMEOUT_MS,
      statementTimeoutMs: STORE_TIMEOUT_MS,
      // Connections stay open: connecting takes far longer than counting.
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

  /** Counts these requests of the budget, or none of them if the rest is smaller. */
  async take(id: string, requests = 1, limit = this.keyLimit): Promise<RateLimitStatus> {
    const quota = this.#quotaFor(id, limit);
    while (quota.held < requests && quota.held + quota.left >= requests) {
      quota.refill ??= this.#refill(id, quota, requests).finally(() => (quota.refill = undefined));
      await quota.refill;
    }
    const allowed = quota.held >= requests;
    if (allowed) {
      quota.held -= requests;
      quota.used += requests;
    }
    return {
      allowed,
      limit,
      remaining: quota.held + quota.left,
      resetSeconds: Math.max(Math.ceil((quota.deadlineAtMs - Date.now()) / 1000), 1),
    };
  }

  async close(): Promise<void> {
    await this.#db.end();
  }

  #quotaFor(id: string, limit: number): LocalQuota {
    const known = this.#quotas.get(id);
    if (known && Date.now() < known.deadlineAtMs) return known;
    this.#sweep();
    const quota: LocalQuota = { limit, deadlineAtMs: Infinity, held: 0, used: 0, left: limit, refill: undefined };
    this.#quotas.set(id, quota);
    return quota;
  }

  async #refill(id: string, quota: LocalQuota, needed: number): Promise<void> {
    if (Date.now() < this.#fallbackUntilMs) return this.#useLocalFallback(quota);
    const prefetched = Math.min(Math.max(quota.used, 1), Math.ceil(quota.left * MAX_PREFETCH_FRACTION));
    const requested = Math.max(prefetched, needed - quota.held);
    try {
      const { consumedPoints, msBeforeNext } = await this.#table.penalty(id, requested);
      quota.left = Math.max(quota.limit - consumedPoints, 0);
      quota.held += Math.min(Math.max(quota.limit - consumedPoints + requested, 0), requested);
      quota.deadlineAtMs = Date.now() + msBeforeNext;
    } catch (error) {
      this.#fallbackUntilMs = Date.now() + FALLBACK_MS;
      this.#log.warn({ err: error }, 'rate limit store unavailable; falling back to local counters');
      this.#useLocalFallback(quota);
    }
  }

  #useLocalFallback(quota: LocalQuota): void {
    quota.held = Math.max(quota.limit - quota.used, 0);
    quota.left = 0;
    quota.deadlineAtMs = Math.min(quota.deadlineAtMs, Date.now() + MINUTE_MS);
  }

  /** Deletes finished minutes, here and in the table, at most once a minute. */
  #sweep(): void {
    const nowMs = Date.now();
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + MINUTE_MS;
    for (const [id, quota] of this.#quotas) if (quota.deadlineAtMs <= nowMs) this.#quotas.delete(id);
    this.#db
      .query('delete from rate_limits where expire < $1', [nowMs - MINUTE_MS])
      .catch((error: unknown) => this.#log.warn({ err: error }, 'rate limit cleanup failed'));
  }
}
