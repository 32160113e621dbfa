import { RateLimiterMemory, RateLimiterQueue } from 'rate-limiter-flexible';
import type { FindPaymentOutcome } from '../../providers/provider';

/** After this number of consecutive indeterminate results the provider account counts as down. */
const DOWN_AFTER = 20;

const IS_DOWN: FindPaymentOutcome = {
  outcome: 'indeterminate',
  reason: 'the provider account returns no results at present',
};

/**
 * The status queries of reconciliation at one provider account, with a rate limit, because confirmations share the
 * account's own limit. An account that is down is not queried: a run would wait for days of timeouts.
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
