import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Reads again and again until what it reads is right; what it read last is in the error when that takes too long. */
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
        `Not within ${timeoutMs} ms; last seen: ${inspect(value, { breakLength: Infinity }).slice(0, 600)}`,
      );
    await sleep(25);
  }
}
