import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Reads again and again until what it reads is right; what it read last is in the error when that takes too long. */
export async function until<T>(read: () => Promise<T>, isRight: (value: T) => boolean, timeoutMs = 90_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (isRight(value)) return value;
    if (performance.now() > deadline)
      throw new Error(
        `Not within ${timeoutMs} ms; last seen: ${inspect(value, { breakLength: Infinity }).slice(0, 600)}`,
      );
    await sleep(25);
  }
}
