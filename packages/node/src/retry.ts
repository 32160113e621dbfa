const INITIAL_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** A response that requires more ends the call. */
const MAX_RETRY_AFTER_SECONDS = 60;

/**
 * The delay before the next attempt. It doubles with each attempt, up to 8 s, and half of it is random, so that clients
 * do not return together. After `Retry-After` it is at least that long. Null if that is more than a minute.
 */
export function retryDelayMs(attempt: number, retryAfterSeconds: number | null, random = Math.random()): number | null {
  const backoffMs = Math.min(INITIAL_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
  if (retryAfterSeconds === null) return backoffMs * (0.5 + random / 2);
  if (retryAfterSeconds > MAX_RETRY_AFTER_SECONDS) return null;
  return retryAfterSeconds * 1_000 + INITIAL_DELAY_MS * random;
}

/** `Retry-After` is in seconds or a date; empty if it is neither. */
export function retryAfterSecondsOf(header: string | null, nowMs: number): { readonly retryAfterSeconds?: number } {
  if (header === null) return {};
  if (/^\d+$/.test(header)) return { retryAfterSeconds: Number(header) };
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? {} : { retryAfterSeconds: Math.max(0, (atMs - nowMs) / 1_000) };
}
