import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../errors';

const INTERVAL_MS = 50;

/**
 * Asks `check` again and again until it gives something other than undefined. What `check` throws ends the wait.
 * @throws UserError naming `what` when `timeoutMs` is over; the signal's reason when aborted
 */
export async function pollUntil<T>(
  what: string,
  check: () => Promise<T | undefined> | T | undefined,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<T> {
  const deadlineAtMs = performance.now() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const found = await check();
    if (found !== undefined) return found;
    if (performance.now() > deadlineAtMs) throw new UserError(`${what}: not within ${Math.round(timeoutMs / 1000)} s`);
    await sleep(INTERVAL_MS, undefined, { signal });
  }
}
