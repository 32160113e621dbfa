import { setTimeout as sleep } from 'node:timers/promises';

/** Reads again and again until what it reads is right; what it read last is in the error when that takes too long. */
export async function until<T>(read: () => Promise<T>, isRight: (value: T) => boolean, timeoutMs = 90_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (isRight(value)) return value;
    if (Date.now() > deadline)
      throw new Error(`Not within ${timeoutMs} ms; last seen: ${JSON.stringify(value).slice(0, 600)}`);
    await sleep(25);
  }
}
