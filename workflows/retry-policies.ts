export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Longer than any call to a provider: an attempt that timed out makes no call any more (`providerDeadline`). */
export const ACTIVITY_TIMEOUT_MS = 15 * SECOND_MS;

/** The first attempt: immediately, inside the workflow task, not visible in the Web UI. */
export const LOCAL_ACTIVITY_OPTIONS = { startToCloseTimeout: 6 * SECOND_MS, retry: { maximumAttempts: 1 } } as const;

/**
 * Retries are durable, visible in the Web UI and without limit. After an outage of any length the next attempt starts
 * after at most 30 s. The attempts of an activity add no events to the history.
 */
export const UNLIMITED_RETRY = {
  startToCloseTimeout: ACTIVITY_TIMEOUT_MS,
  retry: { initialInterval: SECOND_MS, backoffCoefficient: 2, maximumInterval: 30 * SECOND_MS },
} as const;

/** The provider has two minutes to issue a QR code. */
export const QRIS_ISSUE_RETRY = {
  startToCloseTimeout: ACTIVITY_TIMEOUT_MS,
  scheduleToCloseTimeout: 2 * MINUTE_MS,
  retry: { initialInterval: SECOND_MS, backoffCoefficient: 2, maximumInterval: ACTIVITY_TIMEOUT_MS },
} as const;

/**
 * A workflow with this many events continues as a new run. Temporal terminates a workflow with 51,200 events or 10,000
 * signals; no single wait adds nearly as many.
 */
export const MAX_HISTORY_EVENTS = 1_000;

/** Each call returns the next delay: twice the last one, at most `maxMs`. */
export function exponentialBackoff(bounds: { readonly initialMs: number; readonly maxMs: number }): () => number {
  let nextMs = bounds.initialMs;
  return () => {
    const delayMs = nextMs;
    nextMs = Math.min(nextMs * 2, bounds.maxMs);
    return delayMs;
  };
}
