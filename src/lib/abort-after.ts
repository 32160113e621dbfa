import { once } from 'node:events';

/** Resolves when the signal aborts. */
export async function whenAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/**
 * Runs `work` with a signal that aborts as `signal` does, or after `timeoutMs` with a `TimeoutError`.
 *
 * `AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])` does not do this in Node.js 20: it refers to the timeout
 * weakly, so that a garbage collection removes the timeout, and a call without a response never ends.
 */
export async function abortAfter<Result>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new DOMException('The time limit passed', 'TimeoutError')), timeoutMs);
  try {
    return await work(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal);
  } finally {
    clearTimeout(timer);
  }
}
