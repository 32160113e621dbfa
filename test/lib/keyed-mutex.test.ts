import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyedMutex } from '../../src/lib/keyed-mutex';

afterEach(() => jest.useRealTimers());

describe('the keyed mutex', () => {
  it('executes work under one key one after the other, in the order of arrival, also after a failure', async () => {
    const mutex = createKeyedMutex();
    const events: string[] = [];
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((name, index) =>
        mutex.runExclusive('key', async () => {
          events.push(`${name} starts`);
          await sleep(10 - index * 4);
          events.push(`${name} ends`);
          if (name === 'b') throw new Error('b');
          return name;
        }),
      ),
    );
    expect(events).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await mutex.runExclusive('key', () => Promise.resolve('d'))).toBe('d');
  });

  it('executes work under different keys concurrently', async () => {
    const mutex = createKeyedMutex();
    let release = () => {};
    const blocked = mutex.runExclusive('one', () => new Promise<void>((resolve) => (release = resolve)));
    expect(await mutex.runExclusive('other', () => Promise.resolve('done'))).toBe('done');
    release();
    await blocked;
  });

  it('rejects after 10 s what has not started, and gives started work the deadline of its own request', async () => {
    jest.useFakeTimers({ now: 0 });
    const mutex = createKeyedMutex();
    let release = () => {};
    const first = mutex.runExclusive('key', () => new Promise<void>((resolve) => (release = resolve)));
    const late = jest.fn(() => Promise.resolve());
    const second = mutex.runExclusive('key', late).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(6_000);
    const third = mutex.runExclusive('key', (deadlineAtMs) => Promise.resolve(deadlineAtMs));
    await jest.advanceTimersByTimeAsync(4_000);
    expect(await second).toBeInstanceOf(Error);
    release();
    await first;
    expect(await third).toBe(16_000);
    expect(late).not.toHaveBeenCalled();
  });
});
