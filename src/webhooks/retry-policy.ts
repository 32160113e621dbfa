import type { WebhookAttempt } from './send';

const SECOND = 1;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Delays before the 2nd, 3rd, … 12th attempt of a cycle, in seconds: three days in all. The relay makes the first
 * attempt, the retry workflow the others.
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
 * An endpoint with this many consecutive failures is failing: its deliveries wait in the outbox, and the relay sends
 * only probes. After 120 hours it is disabled.
 */
export const CIRCUIT_BREAKER = {
  failureThreshold: 20,
  /** The delay of a probe is this fraction of the time since the endpoint began to fail, between min and max. */
  probeDelayFraction: 1 / 4,
  minProbeDelaySeconds: 10 * SECOND,
  maxProbeDelaySeconds: 15 * MINUTE,
  /** A delivery that waited for longer is dead. A retry cycle takes as long. */
  maxQueueSeconds: 72 * HOUR,
  disableAfterSeconds: 120 * HOUR,
} as const;

const JITTER = 0.1;
/** A longer `Retry-After` of a receiver is reduced to this. */
export const MAX_RETRY_AFTER_SECONDS = HOUR;

/**
 * The delay after this many failed attempts of a cycle; undefined after the last one.
 * @param retryAfterSeconds from a response 429 or 503
 * @param random in [0, 1): delays vary by 10 %, so that a receiver that recovers does not get all retries together
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

/** What follows from an attempt: the delivery is delivered, dead, or retried after a delay. */
export type RetryDecision =
  | { readonly next: 'delivered' }
  | { readonly next: 'dead'; readonly reason: 'endpoint_gone' | 'attempts_exhausted' }
  | { readonly next: 'retry'; readonly delaySeconds: number };

/** @param attempts of the cycle, including this one */
export function decideRetry(
  attempts: number,
  attempt: Pick<WebhookAttempt, 'failure' | 'statusCode' | 'retryAfterSeconds'>,
): RetryDecision {
  if (attempt.failure === null) return { next: 'delivered' };
  if (attempt.statusCode === GONE) return { next: 'dead', reason: 'endpoint_gone' };
  const delaySeconds = retryDelaySeconds(attempts, attempt.retryAfterSeconds ?? undefined);
  return delaySeconds === undefined ? { next: 'dead', reason: 'attempts_exhausted' } : { next: 'retry', delaySeconds };
}
