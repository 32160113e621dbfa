import { ExplainedFailure } from '../errors';
import { withTimeout } from '../lib/with-timeout';

/** The maximum time for a response, even if PostgreSQL or Temporal hangs. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * The remaining time for a response. The time in which the body arrives does not count. Each call of an endpoint has a
 * timeout of its own; this is the limit of their sum.
 */
export class RequestDeadline {
  #leftMs = REQUEST_TIMEOUT_MS;

  /** @throws ExplainedFailure if the time is up before the work is done */
  async race<Result>(work: Promise<Result>): Promise<Result> {
    const startedMs = performance.now();
    try {
      return await withTimeout(
        this.#leftMs,
        work,
        () => new ExplainedFailure(`No response after ${REQUEST_TIMEOUT_MS} ms`),
      );
    } finally {
      this.#leftMs -= performance.now() - startedMs;
    }
  }
}
