import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { types } from 'node:util';
import {
  isRetryable,
  LunasConnectionError,
  LunasError,
  LunasTimeoutError,
  mayBeExecuted,
  toResponseError,
  UnexpectedResponseError,
} from './errors';
import { warnOfIgnored } from './ignored-input';
import { retryAfterSecondsOf, retryDelayMs } from './retry';
import { VERSION } from './version';

/** What every call takes. */
export interface RequestOptions {
  /** Ends the call with the signal's reason. The API may have executed the request. */
  readonly signal?: AbortSignal | undefined;
}

/** One call of the API; all its attempts send the same bytes. */
export interface ApiCall extends RequestOptions {
  readonly method: 'GET' | 'POST';
  /** With the query, below the base URL. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  readonly idempotencyKey?: string;
}

/**
 * Decides after a lost response whether the request may be repeated.
 * @returns the result, if the API has executed the request; undefined if the repeat is safe
 * @throws LunasError if neither is certain
 */
export type AfterLoss<Value> = (lost: LunasError) => Promise<Value | undefined>;

export interface HttpSettings {
  readonly apiKey: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** The timeout of one attempt. */
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

interface TextResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface ParsedResponse<Value> {
  readonly value: Value;
  readonly headers: Headers;
}

const TIMED_OUT = Symbol('timed out');

/** Sends calls, and repeats those that may succeed later. */
export class HttpClient {
  readonly #settings: HttpSettings;

  constructor(settings: HttpSettings) {
    this.#settings = settings;
  }

  /**
   * @param field of the response's body that has the result
   * @param afterLoss of a call that is not idempotent: runs before each repeat of what the API may have executed
   * @throws LunasError after the last attempt
   */
  async send<Value>(call: ApiCall, field: string, afterLoss?: AfterLoss<Value>): Promise<ParsedResponse<Value>> {
    const requestId = randomUUID();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt<Value>(call, field, requestId);
      } catch (error) {
        if (!(error instanceof LunasError)) throw error;
        error.attempts = attempt;
        const isLast = attempt > this.#settings.maxRetries || !isRetryable(error);
        const delayMs = isLast ? null : retryDelayMs(attempt, error.retryAfterSeconds);
        if (delayMs === null) throw error;
        await pause(delayMs, call.signal);
        const value = mayBeExecuted(error) ? await afterLoss?.(error) : undefined;
        if (value !== undefined) return { value, headers: new Headers() };
      }
    }
  }

  async #attempt<Value>(call: ApiCall, field: string, requestId: string): Promise<ParsedResponse<Value>> {
    const { status, headers, text } = await this.#request(call, requestId);
    warnOfIgnored(headers, `${call.method} ${call.path.replace(/\?.*/, '')}`);
    const reason = headers.get('x-error-reason');
    const details = {
      status,
      ...(reason !== null && { reason }),
      requestId: headers.get('x-request-id') ?? requestId,
      ...retryAfterSecondsOf(headers.get('retry-after'), Date.now()),
    };
    if (status < 200 || status > 299) throw toResponseError(text, details);
    try {
      const body: Record<string, Value> = JSON.parse(text);
      const value = body[field];
      if (value !== undefined) return { value, headers };
    } catch {
      // The same error as for a body without the field.
    }
    throw new UnexpectedResponseError(`The response has no "${field}".`, details);
  }

  async #request(call: ApiCall, requestId: string): Promise<TextResponse> {
    const { timeoutMs, baseUrl } = this.#settings;
    try {
      return await withTimeout(timeoutMs, call.signal, (signal) => this.#fetch(call, requestId, signal));
    } catch (error) {
      if (call.signal?.aborted) throw error;
      const target = `${call.method} ${new URL(baseUrl).origin}`;
      const details = { requestId, cause: error };
      if (error === TIMED_OUT) throw new LunasTimeoutError(`${target}: no response within ${timeoutMs} ms.`, details);
      throw new LunasConnectionError(`${target}: ${describe(error)}.`, details);
    }
  }

  async #fetch(call: ApiCall, requestId: string, signal: AbortSignal): Promise<TextResponse> {
    const { apiKey, baseUrl } = this.#settings;
    const response = await fetch(baseUrl + call.path, {
      method: call.method,
      signal,
      // A redirect would send the key to another address.
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'user-agent': `lunas-node/${VERSION}`,
        'x-request-id': requestId,
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
        ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
      },
      ...(call.body !== undefined && { body: call.body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

/** A signal of the caller may exist for as long as its process, so each attempt removes its listener. */
async function withTimeout<Result>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(TIMED_OUT), timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(delayMs, undefined, { ...(signal && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** `fetch failed` has its reason in `cause`. */
function describe(error: unknown): string {
  if (!types.isNativeError(error)) return String(error);
  return types.isNativeError(error.cause) ? `${error.message} (${error.cause.message})` : error.message;
}
