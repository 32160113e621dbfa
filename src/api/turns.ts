/** Whoever has waited this long is turned away, without the work being done, to try again; work that has begun has what is left. */
const LONGEST_MS = 10_000;

/** Work that concerns one payment is done one after the other, in the order in which it came to this process. */
export interface Turns {
  /**
   * Waits for its turn behind other work under the same key.
   * @param work is told when (Unix) its caller's time is up: nobody waits any more then for what it asks of others
   * @throws TimeoutError when its turn takes longer than 10 s to come
   */
  take<T>(key: string, work: (endsAtMs: number) => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    async take(key, work) {
      const endsAtMs = Date.now() + LONGEST_MS;
      const tooLate = AbortSignal.timeout(LONGEST_MS);
      const before = last.get(key) ?? Promise.resolve();
      const myTurn = before.then(() => tooLate.throwIfAborted());
      const mine = myTurn.then(() => work(endsAtMs));
      const done = mine.then(
        () => undefined,
        () => undefined,
      );
      last.set(key, done);
      void done.then(() => last.get(key) === done && last.delete(key));
      await Promise.race([myTurn, rejection(tooLate)]);
      return mine;
    },
  };
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
