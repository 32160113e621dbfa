import { Pool, type Dispatcher } from 'undici';
import { indeterminate, type Indeterminate, type ProviderCall } from '../../domain/provider-call';
import { messageOf } from '../../errors';
import { abortAfter, whenAborted } from '../../lib/abort-after';
import { traceHeaders } from '../../observability/correlation';

export interface ProviderHttpRequest {
  readonly method: 'GET' | 'POST';
  /** What follows the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON body. These bytes are sent as they are. */
  readonly bytes?: Buffer | undefined;
}

/** Any response, also an error. */
export interface ProviderHttpResponse {
  readonly outcome: 'responded';
  readonly httpStatus: number;
  readonly text: string;
}

const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 128;
const TOO_LATE = 'the deadline passed before the request was sent';

/** HTTP to one provider account: persistent connections, no redirects, a bounded response, and no exceptions. */
export class ProviderHttp {
  readonly #pool: Pool;
  readonly #pathPrefix: string;

  constructor(baseUrl: string) {
    const url = new URL(baseUrl);
    // Each call has its own deadline, so undici's timeouts are off.
    this.#pool = new Pool(url.origin, { connections: MAX_CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 });
    this.#pathPrefix = url.pathname.replace(/\/+$/, '');
  }

  /**
   * One call, which ends before its deadline. All but a response is `indeterminate`, also a refused connection: a
   * request that was never sent cannot be distinguished from a lost one reliably enough to move money a second time.
   */
  async send(request: ProviderHttpRequest, call: ProviderCall): Promise<ProviderHttpResponse | Indeterminate> {
    const leftMs = Math.floor(call.deadlineAtMs - Date.now());
    if (leftMs <= 0) return indeterminate(TOO_LATE);
    try {
      return await abortAfter(leftMs, call.signal, (signal) =>
        Promise.race([this.#send(request, call, signal), failWhenAborted(signal)]),
      );
    } catch (error) {
      const isAborted = call.signal.aborted || error instanceof DOMException;
      return indeterminate(isAborted ? `no response after ${leftMs} ms` : messageOf(error));
    }
  }

  async #send(
    { method, path, headers, bytes }: ProviderHttpRequest,
    call: ProviderCall,
    signal: AbortSignal,
  ): Promise<ProviderHttpResponse> {
    const response = await this.#pool.compose(writtenBefore(call.deadlineAtMs)).request({
      method,
      path: this.#pathPrefix + path,
      headers: {
        accept: 'application/json',
        ...(bytes && { 'content-type': 'application/json' }),
        ...headers,
        ...traceHeaders(),
      },
      body: bytes ?? null,
      signal,
    });
    return { outcome: 'responded', httpStatus: response.statusCode, text: await readBounded(response.body) };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** undici itself ends an aborted request only when its connection is ready, or after 10 s without one. */
async function failWhenAborted(signal: AbortSignal): Promise<never> {
  await whenAborted(signal);
  throw signal.reason;
}

/**
 * Reads the clock when a connection has its turn, in the same step of the event loop in which it writes the request:
 * nothing else runs in between. A process may have been suspended since the start of the call, and connections have
 * their turn before timers.
 */
function writtenBefore(deadlineAtMs: number): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        // undici does not write a request whose handler throws here, and keeps the connection.
        if (Date.now() >= deadlineAtMs) throw new Error(TOO_LATE);
        handler.onRequestStart?.(controller, context);
      },
      onResponseStart: (...parameters) => handler.onResponseStart?.(...parameters),
      onResponseData: (...parameters) => handler.onResponseData?.(...parameters),
      onResponseEnd: (...parameters) => handler.onResponseEnd?.(...parameters),
      onResponseError: (...parameters) => handler.onResponseError?.(...parameters),
    });
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (length > MAX_RESPONSE_BYTES) throw new Error(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
