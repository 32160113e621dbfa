import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Session } from '../../services/identity/sessions';
import { PageError } from './page-error';

const MINUTE_SECONDS = 60;
const LIMITS = { get: 300, post: 60 } as const;

type Visitor = Pick<Session, 'id' | 'stage' | 'user' | 'membership'>;

/** A sign-in that is not complete counts by itself. */
function ownerOf({ id, stage, user, membership }: Visitor): string {
  return stage === 'full' ? `user ${user.id} of ${membership?.merchantId ?? 'none'}` : `session ${id}`;
}

/**
 * Limits what a user requests of a merchant, in all sessions: 300 pages and 60 forms a minute. Each process counts its
 * own: the limit protects a process from a script that loops. A count in PostgreSQL would add a write to each page.
 * `SignInThrottle` counts passwords and codes for all processes.
 */
export class SessionBudget {
  readonly #limits = {
    get: new RateLimiterMemory({ points: LIMITS.get, duration: MINUTE_SECONDS }),
    post: new RateLimiterMemory({ points: LIMITS.post, duration: MINUTE_SECONDS }),
  };

  /** @throws PageError `too_many_requests` with `Retry-After` */
  async count(session: Visitor, method: 'get' | 'post'): Promise<void> {
    try {
      await this.#limits[method].consume(ownerOf(session));
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const seconds = Math.max(Math.ceil(error.msBeforeNext / 1_000), 1);
      throw new PageError('too_many_requests', `budget of the ${ownerOf(session)}`, {
        'Retry-After': String(seconds),
      });
    }
  }
}
