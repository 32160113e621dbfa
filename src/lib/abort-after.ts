import { once, setMaxListeners } from 'node:events';

/** Resolves when the signal aborts. */
export async function whenAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/**
 * Runs `work` with a signal that aborts as `signal` does, or after `timeoutMs` with a `TimeoutError`.
 *
 * `AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])` does not do this. In Node.js 20 it refers to the timeout
 * weakly, so that a garbage collection removes the timeout, and a call without a response never ends. In every version
 * it is kept for good once it has a listener, with all that the listener refers to, unless it aborts.
 */
export async function abortAfter<Result>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  const abort = (): void => ended.abort(signal?.reason);
  if (signal?.aborted) abort();
  // Calls at the same time may have the same signal. Node.js warns of a leak from the eleventh listener on.
  if (signal) setMaxListeners(0, signal);
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(() => ended.abort(new DOMException('The time limit passed', 'TimeoutError')), timeoutMs);
  try {
    return await work(ended.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
