export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Longer than any call to a provider: after this long no body of a timed-out attempt is at work any more. */
export const ACTIVITY_TIMEOUT_MS = 15 * SECOND_MS;

/** The happy path: immediately, within the workflow task, not visible in the Web UI. */
export const LOCAL_ACTIVITY_OPTIONS = { startToCloseTimeout: 6 * SECOND_MS, retry: { maximumAttempts: 1 } } as const;

/**
 * A retried step: durable, visible in the Web UI, without a last attempt. After an outage of any length the next attempt
 * comes within 30 s. Attempts of an activity add nothing to the history.
 */
export const UNLIMITED_RETRY = {
  startToCloseTimeout: ACTIVITY_TIMEOUT_MS,
  retry: { initialInterval: SECOND_MS, backoffCoefficient: 2, maximumInterval: 30 * SECOND_MS },
} as const;

/**
 * A workflow with so many events continues as a new one. Temporal ends a workflow with 51,200 events or 10,000 signals;
 * no single wait of ours can add nearly as many.
 */
export const MAX_HISTORY_EVENTS = 1_000;

/** Waits that double from the first to the longest. */
export function exponentialBackoff({
  initialMs,
  maxMs,
}: {
  readonly initialMs: number;
  readonly maxMs: number;
}): () => number {
  let nextMs = initialMs;
  return () => {
    const delayMs = nextMs;
    nextMs = Math.min(nextMs * 2, maxMs);
    return delayMs;
  };
}
