import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../errors';

const INTERVAL_MS = 50;

/**
 * Repeats `check` until its result is not undefined.
 * @throws UserError with `what` after `timeoutMs`; the signal's reason if aborted; any error of `check`
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
    if (performance.now() > deadlineAtMs)
      throw new UserError(`${what}: timed out after ${Math.round(timeoutMs / 1000)} s`);
    await sleep(INTERVAL_MS, undefined, { signal });
  }
}
