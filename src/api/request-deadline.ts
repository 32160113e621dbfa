import { withTimeout } from './with-timeout';

/** So long a caller waits for its answer at most, whatever hangs behind us. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * The time that is left for an answer. It runs while we work on the request; the body's way to us does not count.
 * Whatever an endpoint waits for has a bound of its own; this is the bound of their sum.
 */
export class RequestDeadline {
  #leftMs = REQUEST_TIMEOUT_MS;

  /** @throws Error when the time is up before the work is done */
  async race<Result>(work: Promise<Result>): Promise<Result> {
    const startedMs = performance.now();
    try {
      return await withTimeout(
        this.#leftMs,
        work,
        () => new Error(`There was no answer within ${REQUEST_TIMEOUT_MS} ms`),
      );
    } finally {
      this.#leftMs -= performance.now() - startedMs;
    }
  }
}
