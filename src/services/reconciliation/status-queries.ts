import { RateLimiterMemory, RateLimiterQueue } from 'rate-limiter-flexible';
import type { FindPaymentOutcome } from '../../providers/provider';

/** After this number of consecutive indeterminate results the provider account counts as down. */
const DOWN_AFTER = 20;
/** Status queries per second and provider account without a limit; docs/scale.md has the calculation. */
const MAX_CALLS_PER_SECOND = 100;
/** What remains of an account's limit is for payments. */
const SHARE_OF_LIMIT = 0.5;
/** A payment is not compared in this run if its query found no free slot so often. */
const MAX_ATTEMPTS = 10;

/** The account is down, or its limit is used up by payments: the query was not made. */
export interface Unasked {
  readonly outcome: 'unasked';
}

const UNASKED: Unasked = { outcome: 'unasked' };

/**
 * The status queries of reconciliation at one provider account, with a rate limit, because confirmations share the
 * account's own limit. An account that is down is not queried: a run would wait for days of timeouts.
 */
export class StatusQueries {
  /** Queries in a second, and at a time. */
  readonly perSecond: number;
  private readonly budget: RateLimiterQueue;
  private indeterminateInSuccession = 0;

  /** @param callsPerSecond the limit of the account; null: it has none */
  constructor(callsPerSecond: number | null) {
    const share = Math.floor(SHARE_OF_LIMIT * (callsPerSecond ?? Infinity));
    this.perSecond = Math.max(1, Math.min(MAX_CALLS_PER_SECOND, share));
    this.budget = new RateLimiterQueue(new RateLimiterMemory({ points: this.perSecond, duration: 1 }));
  }

  async find(query: () => Promise<FindPaymentOutcome>): Promise<FindPaymentOutcome | Unasked> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      if (this.indeterminateInSuccession >= DOWN_AFTER) return UNASKED;
      await this.budget.removeTokens(1);
      const found = await query();
      if (found.outcome !== 'indeterminate') {
        this.indeterminateInSuccession = 0;
        return found;
      }
      if (!found.isRateLimited) {
        this.indeterminateInSuccession += 1;
        return found;
      }
    }
    return UNASKED;
  }
}
