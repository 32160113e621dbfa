const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm forwards Ctrl-C to its child, which also gets it from the terminal: two signals for one key press. */
const SAME_PRESS_MS = 1_000;

/**
 * Calls `stop` on the first signal (Ctrl-C, SIGTERM, a closed terminal), and `forceStop` on the second one.
 * @returns a function that removes the listeners
 */
export function onStopSignal(stop: () => void, forceStop: () => void): () => void {
  let firstSignalAtMs: number | null = null;
  const listener = (): void => {
    const now = performance.now();
    if (firstSignalAtMs === null) {
      firstSignalAtMs = now;
      stop();
    } else if (now - firstSignalAtMs > SAME_PRESS_MS) {
      forceStop();
    }
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}
