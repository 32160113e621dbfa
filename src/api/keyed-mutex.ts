/** Whoever has waited this long is turned away, without the work being done, to try again; work that has begun has what is left. */
const MAX_HOLD_MS = 10_000;

/** Work that concerns one payment is done one after the other, in the order in which it came to this process. */
export interface KeyedMutex {
  /**
   * Waits for its turn behind other work under the same key.
   * @param work is told when (Unix) its caller's time is up: nobody waits any more then for what it asks of others
   * @throws TimeoutError when its turn takes longer than 10 s to come
   */
  runExclusive<T>(key: string, work: (deadlineAtMs: number) => Promise<T>): Promise<T>;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    async runExclusive(key, work) {
      const deadlineAtMs = Date.now() + MAX_HOLD_MS;
      const tooLate = AbortSignal.timeout(MAX_HOLD_MS);
      const before = last.get(key) ?? Promise.resolve();
      const released = before.then(() => tooLate.throwIfAborted());
      const mine = released.then(() => work(deadlineAtMs));
      const done = mine.then(
        () => undefined,
        () => undefined,
      );
      last.set(key, done);
      void done.then(() => last.get(key) === done && last.delete(key));
      await Promise.race([released, rejection(tooLate)]);
      return mine;
    },
  };
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
