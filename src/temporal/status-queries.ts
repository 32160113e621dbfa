import { RateLimiterMemory, RateLimiterQueue } from 'rate-limiter-flexible';
import type { FindPaymentOutcome } from '../providers/provider';

/** After so many indeterminate results in succession the provider account counts as down. */
const DOWN_AFTER = 20;

const IS_DOWN: FindPaymentOutcome = {
  outcome: 'indeterminate',
  reason: 'the provider account gives no results at present',
};

/**
 * The status queries that reconciliation makes of one provider account: at most so many a second, since confirmations need the
 * account's rate limit too. An account that is down is left alone, so that a run over it does not take days of timeouts.
 */
export class StatusQueries {
  private readonly budget: RateLimiterQueue;
  private indeterminateInSuccession = 0;

  constructor(callsPerSecond: number) {
    this.budget = new RateLimiterQueue(new RateLimiterMemory({ points: callsPerSecond, duration: 1 }));
  }

  async find(query: () => Promise<FindPaymentOutcome>): Promise<FindPaymentOutcome> {
    if (this.indeterminateInSuccession >= DOWN_AFTER) return IS_DOWN;
    await this.budget.removeTokens(1);
    const found = await query();
    this.indeterminateInSuccession = found.outcome === 'indeterminate' ? this.indeterminateInSuccession + 1 : 0;
    return found;
  }
}
