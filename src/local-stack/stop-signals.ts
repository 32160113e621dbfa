const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm passes a Ctrl-C on to its child, which has had it from the terminal already: that is one press. */
const SAME_PRESS_MS = 1_000;

/**
 * Calls `stop` when the process is asked to end (Ctrl-C, SIGTERM, a closed terminal), and `hurry` when it is asked again.
 * @returns how to stop listening
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
