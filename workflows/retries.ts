export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Longer than any call to a provider: after this long no body of a timed-out attempt is at work any more. */
export const ATTEMPT_MS = 15 * SECOND_MS;

/** What has to be tried again: durable, visible in the Web UI, for as long as it takes. */
export const UNTIL_CLEAR = {
  startToCloseTimeout: ATTEMPT_MS,
  retry: { initialInterval: SECOND_MS, backoffCoefficient: 2, maximumInterval: 5 * MINUTE_MS },
} as const;

/** Waits that double from the first to the longest. */
export function backOff({ first, longest }: { readonly first: number; readonly longest: number }): () => number {
  let nextMs = first;
  return () => {
    const waitMs = nextMs;
    nextMs = Math.min(nextMs * 2, longest);
    return waitMs;
  };
}
