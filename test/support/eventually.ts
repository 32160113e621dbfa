import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Reads until the value is as expected. @throws Error with the last value after the timeout */
export async function eventually<T>(
  read: () => Promise<T>,
  isExpected: (value: T) => boolean,
  timeoutMs = 90_000,
): Promise<T> {
  const deadlineAtMs = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (isExpected(value)) return value;
    if (performance.now() > deadlineAtMs)
      throw new Error(
        `Not as expected after ${timeoutMs} ms: ${inspect(value, { breakLength: Infinity }).slice(0, 600)}`,
      );
    await sleep(25);
  }
}
