import type { WebhookAttempt } from './send';

const SECOND = 1;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Waits before the 2nd, 3rd, … 12th try of a delivery, in seconds: three days in all. The first try is the relay's, the
 * others are the workflow's.
 */
export const RETRY_DELAYS_SECONDS = [
  10 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
] as const;

export const MAX_ATTEMPTS = RETRY_DELAYS_SECONDS.length + 1;

/**
 * An endpoint with this many failures in a row is failing: its deliveries wait for it in the outbox, and one of them goes
 * out as a probe now and then. After days of that it is disabled.
 */
export const CIRCUIT_BREAKER = {
  failureThreshold: 20,
  /** A probe waits as long as a part of the time that the endpoint has been failing for, within bounds. */
  probeDelayFraction: 1 / 4,
  minProbeDelaySeconds: 10 * SECOND,
  maxProbeDelaySeconds: 15 * MINUTE,
  /** What has waited for longer is dead, as what was tried for longer is. */
  maxQueueSeconds: 72 * HOUR,
  disableAfterSeconds: 120 * HOUR,
} as const;

const JITTER = 0.1;
/** What a receiver asks for with `Retry-After` is honoured up to this. */
export const MAX_RETRY_AFTER_SECONDS = HOUR;

/**
 * How long to wait after try number `tries` (1 is the relay's) failed, or undefined after the last one.
 * @param retryAfterSeconds what the receiver asked for with a 429 or 503; honoured up to an hour
 * @param random in [0, 1): waits differ by a tenth, so that a receiver that comes back is not met by all at once
 */
export function retryDelaySeconds(
  attempts: number,
  retryAfterSeconds?: number,
  random = Math.random(),
): number | undefined {
  const planned = RETRY_DELAYS_SECONDS[attempts - 1];
  if (planned === undefined) return undefined;
  const requestedSeconds = Math.min(retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS);
  return Math.max(planned * (1 + JITTER * (2 * random - 1)), requestedSeconds);
}

const GONE = 410;

/** What follows from a try: it is delivered, given up for a reason, or tried again after a wait. */
export type RetryDecision =
  | { readonly next: 'delivered' }
  | { readonly next: 'dead'; readonly reason: 'endpoint_gone' | 'attempts_exhausted' }
  | { readonly next: 'retry'; readonly delaySeconds: number };

/** @param attempts how many there were, this one counted */
export function decideRetry(
  attempts: number,
  attempt: Pick<WebhookAttempt, 'failure' | 'statusCode' | 'retryAfterSeconds'>,
): RetryDecision {
  if (attempt.failure === null) return { next: 'delivered' };
  if (attempt.statusCode === GONE) return { next: 'dead', reason: 'endpoint_gone' };
  const delaySeconds = retryDelaySeconds(attempts, attempt.retryAfterSeconds ?? undefined);
  return delaySeconds === undefined ? { next: 'dead', reason: 'attempts_exhausted' } : { next: 'retry', delaySeconds };
}
