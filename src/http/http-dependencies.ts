import type { Environment } from '../config';
import type { Logger } from '../observability/logger';
import type { ApiKeys } from './auth/api-keys';
import type { AuthFailureLimiter } from './auth/auth-failure-limiter';
import type { KnownKeys } from './auth/known-keys';
import type { PublicBudget } from './rate-limit/public-budget';
import type { RateLimit } from './rate-limit/rate-limit';
import type { RequestLog } from './request-log';

/** What a listener uses for each request, before an endpoint handles it. */
export interface HttpDependencies {
  readonly rateLimit: RateLimit;
  readonly publicBudget: PublicBudget;
  readonly apiKeys: ApiKeys;
  readonly knownKeys: KnownKeys;
  readonly authFailures: AuthFailureLimiter;
  /** Keys of the other environment are not accepted. */
  readonly environment: Environment;
  readonly requestLog: RequestLog;
  readonly log: Logger;
}
